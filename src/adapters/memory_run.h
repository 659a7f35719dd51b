// SPDX-License-Identifier: Apache-2.0
// One run of a MemoryHost: its mailbox, its loop or the bytes that it left, its stream. Everything
// under `mutex` is for any thread; the rest is for the one that runs it, and nobody runs a run
// twice at a time (`is_scheduled`).
//
// Nothing is lost between a release and an event: the mailbox is no part of what is released, and
// whether somebody has to run the run is decided under the lock that guards the mailbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "holdfast/memory_runs.h"

namespace holdfast::adapters {

class MemoryRun;

// What a run needs of whoever holds it.
class RunHost {
 public:
  virtual ~RunHost() = default;
  virtual const MemoryOptions& options() const = 0;
  virtual Time now() const = 0;
  // A loop that another run has left, or a new one; and back.
  virtual std::unique_ptr<StepLoop> take_loop(StepAdapter& adapter, const Bytes& key,
                                              const std::string& id) = 0;
  virtual void give_loop(std::unique_ptr<StepLoop> loop) = 0;
  virtual void schedule(const std::shared_ptr<MemoryRun>& run) = 0;
  virtual void hand_over(const std::shared_ptr<MemoryRun>& run, StepJob job) = 0;
  // It is to be woken then; nothing: it need not be.
  virtual void set_timer(const std::shared_ptr<MemoryRun>& run, std::optional<Time> at) = 0;
};

class MemoryRun : public StepAdapter, public std::enable_shared_from_this<MemoryRun> {
 public:
  MemoryRun(RunHost& host, Bytes key, std::string id);

  const Bytes key;

  // Too many events may wait; what the run itself waits for is never refused.
  enum class Delivered : std::uint8_t { kYes, kFull, kEnded, kForgotten };
  Delivered deliver(StepMessage& message);  // it is moved from, if kYes

  // To be run without a message. True: nobody runs it, or will, but for whoever asked.
  bool wake();

  enum class Left : std::uint8_t { kNothing, kToDo, kEnded, kNeverBegun };
  Left run();  // as far as it gets

  holdfast::MemoryRun look() const;
  std::vector<StepEntry> stream() const;
  std::optional<StepRecording> recording() const;
  std::size_t released_bytes() const;
  bool has_ended() const;

  // False: somebody runs it, or will. From then on nothing is delivered.
  bool forget();

  // Where the host keeps its timer, under the host's lock.
  std::multimap<Time, std::shared_ptr<MemoryRun>>::iterator timer;
  std::atomic<bool> has_timer = false;

 private:
  Time now() override { return host_.now(); }
  bool receive(StepMessage& message) override;
  void publish(const StepEntryView& entry) override;
  StepNext wait_for_next(const StepWait& wait) override;
  Result<Done> journal(const StepInput&) override { return Done{}; }
  bool takes_jobs() const override { return host_.options().threads != 0; }
  void hand_over(StepJob job) override;
  bool is_followed() const override { return host_.options().max_entries != 0; }

  void begin();
  bool release();
  Left leave(Left left);
  Left end(std::optional<StepOutcome> outcome);

  RunHost& host_;
  const std::string id_;
  std::optional<Recorder> recorder_;
  std::optional<IdleRelease> releaser_;
  std::unique_ptr<StepLoop> loop_;
  std::optional<Time> wake_at_;

  std::atomic<bool> has_mail_ = false;
  mutable std::mutex mutex_;
  std::vector<StepMessage> mail_;  // from next_mail_ on
  std::size_t next_mail_ = 0;
  std::size_t events_ = 0;     // of them, from outside
  bool is_scheduled_ = false;  // somebody runs it, or will
  bool is_woken_ = false;      // while somebody ran it
  bool is_forgotten_ = false;
  Bytes released_;  // empty: it is in memory, or was never begun
  std::optional<StepOutcome> outcome_;
  std::vector<StepEntry> entries_;  // the oldest at oldest_entry_
  std::size_t oldest_entry_ = 0;
};

}  // namespace holdfast::adapters
