// SPDX-License-Identifier: Apache-2.0
// Reduction: the loop of a run. Ticks, and the events that come of them, are reduced until none is
// left; what they publish goes to a sink, and how the run ends is kept. What has to run, and what
// is due, stands in the state. Whoever holds a run, in a world or outside, reduces with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "steps/command.h"
#include "steps/graph.h"
#include "steps/state.h"
#include "steps/tick.h"

namespace holdfast::steps {

// How a run ends, or will have ended when everything before its end is out.
struct Ending {
  bool is_failure = false;
  Failure failure;        // a failure
  base::ByteView result;  // else
};

// Where what a run publishes goes. An entry is good for as long as the call.
class EntrySink {
 public:
  virtual ~EntrySink() = default;
  virtual void add(const Entry& entry) = 0;
};

class Reduction {
 public:
  // All of them outlive it. The ending is nothing before the run ends; then nothing is reduced.
  Reduction(const Graph& graph, State& state, std::optional<Ending>& ending, EntrySink& entries)
      : graph_(graph), state_(state), ending_(ending), entries_(entries) {}

  std::uint64_t now_ns = 0;

  // What a tick borrows must stay for as long as the state.
  void take(Tick tick);

  // An event from outside. False: it begins no run and there is none, so it leaves none behind.
  bool take_event(TypeIndex type, base::ByteView value, bool is_new);

  // What a body did, as whoever ran it reports it (steps/results_codec.h).
  void take_results(std::uint64_t run, base::ByteView results);
  // It has not ended by itself: whoever ran it is gone, or too late.
  void take_lost(std::uint64_t run, std::string_view code, std::string_view message);

  // Everything that is due, the earliest first.
  void take_due(std::uint64_t until_ns);

  // Behind everything else, and not while a message waits that may make it busy again: then it is
  // for the turn of that message, whatever it brings. `is_told`: that it is idle, since it is.
  void check_idle(bool has_mail, bool& is_told);

  // The runs that were asked for since they were last forgotten, in their order. One that was
  // cancelled meanwhile is not in the state any more.
  const std::vector<RunStep>& asked() const noexcept { return asked_; }
  // Runs that had been issued and are given up, since the same time.
  const std::vector<std::uint64_t>& given_up() const noexcept { return given_up_; }
  void forget_asked() noexcept {
    asked_.clear();
    given_up_.clear();
  }
  void clear() noexcept {
    forget_asked();
    stops_.clear();
    idle_check_ = false;
  }
  // The state was read back: what runs in it is asked for again, and nothing else.
  void ask_again();

  // Children that are to be stopped, for whoever can.
  const std::vector<StopChild>& stops() const noexcept { return stops_; }

  bool is_idle_asked() const noexcept { return idle_check_; }

 private:
  void reduce_all();  // the ticks that are there, and those that come of them
  void perform(Command& command);
  void end(const Ending& ending);

  const Graph& graph_;
  State& state_;
  std::optional<Ending>& ending_;
  EntrySink& entries_;
  std::vector<Command> commands_;
  std::vector<Tick> ticks_;
  std::vector<RunStep> asked_;
  std::vector<StopChild> stops_;
  std::vector<std::uint64_t> given_up_;
  bool idle_check_ = false;  // it was asked for
};

}  // namespace holdfast::steps
