// SPDX-License-Identifier: Apache-2.0
// LiveRun: one run of a step workflow outside of a world. Its state stays in structs between ticks.
// Whoever holds it gives it what comes, runs what it asks for, and looks at a clock for it; what it
// decides is what the machine of a world decides (both reduce with steps/reduction.h).
//
// Invariants: (1) nothing that was given is needed by the caller afterwards; (2) what it holds is
// in proportion to what is live, whatever has gone through it: what is not live any more is dropped
// by writing and reading the state; (3) a run that a world could not keep, or end, or run a step of
// (steps/room.h) ends, and with the same failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/broker.h"
#include "steps/entry_codec.h"
#include "steps/graph.h"
#include "steps/reduction.h"

namespace holdfast::steps {

class LiveRun {
 public:
  // Both outlive it.
  LiveRun(const Graph& graph, EntrySink& entries);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // As if it were new.
  void clear();

  // What comes, and when. False: an event that begins no run, and there is none.
  bool take_event(TypeIndex type, base::ByteView value, std::uint64_t now_ns);
  void take_results(std::uint64_t run, base::ByteView results, std::uint64_t now_ns);
  void take_lost(std::uint64_t run, std::string_view code, std::string_view message,
                 std::uint64_t now_ns);
  void take_due(std::uint64_t now_ns);
  void take_cancel(std::string_view reason, std::uint64_t now_ns);
  // To be told when nothing else is to be done.
  void take_idle(std::uint64_t now_ns);
  bool wants_idle() const { return is_idle() && (!broker_.outbox.is_idle_told || is_asked_idle_); }

  // The next step that has to be run, if there is one, and what it is run with, behind what
  // `params` holds. Each is given once.
  std::optional<RunStep> next_run(base::ByteView key, codec::Buffer& params);

  std::optional<std::uint64_t> next_due_ns() const;
  bool is_running(std::uint64_t run) const { return broker_.state.is_running_now(run); }
  bool has_begun() const noexcept { return has_begun_; }
  bool is_idle() const { return !broker_.outbox.ending && broker_.state.is_idle(); }
  const std::optional<Ending>& ending() const noexcept { return broker_.outbox.ending; }

  // As bytes (docs/formats/steps.md), and back, with its end if it has ended: what ran is then
  // asked for again, under the same numbers, and its results are judged by what it saw when it was
  // asked for first. False: they are not a run of this graph that could go on, and nothing has
  // changed.
  void write(codec::Buffer& out) const;
  bool read(base::ByteView bytes, std::uint64_t now_ns);

 private:
  // Entries wait until it is known that a world could put out what comes with them.
  class Weighed : public EntrySink {
   public:
    explicit Weighed(EntrySink& entries) : entries_(entries) {}
    void add(const Entry& entry) override { held_.push_back(entry); }
    std::size_t at_most() const;  // so many bytes would they be in a record
    std::size_t bytes(const Graph& graph) const;
    void pass_on();
    void drop() { held_.clear(); }

   private:
    EntrySink& entries_;
    std::vector<Entry> held_;
  };

  void refuse_children();
  void settle();
  void check_size();
  void fail(const Failure& failure);
  void shrink();
  bool has_issued() const;
  void forget_asked();

  const Graph& graph_;
  Weighed entries_;
  Broker broker_;
  Reduction reduction_;
  bool has_begun_ = false;
  bool is_asked_idle_ = false;
  std::vector<RunStep> asked_;  // and not given yet
  std::size_t next_asked_ = 0;
  std::size_t kept_asked_ = 0;  // in front: there was no room for them
  std::size_t state_bytes_ = 0;
  std::size_t shrink_at_;
};

}  // namespace holdfast::steps
