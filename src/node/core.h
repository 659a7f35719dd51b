// SPDX-License-Identifier: Apache-2.0
// Core: the part of a node that decides. It reduces inputs into a batch; once that is durable,
// `release` lets those who wait hear of it and starts the effects: nothing leaves before. No
// threads and no waiting: a node calls it from its threads, a simulation from wherever it likes.
// All of it is for the thread that reduces, but `release`, which is for whoever wrote the batch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "env/clock.h"
#include "env/random.h"
#include "kernel/world.h"
#include "node/batch.h"
#include "node/effects.h"
#include "node/input.h"
#include "node/watchers.h"
#include "node/world_clock.h"
#include "store/journal.h"

namespace holdfast::node {

class Core {
 public:
  // All of them must outlive it. The time of its ticks does not go back behind those of the world.
  Core(kernel::World& world, env::Clock& clock, env::Random& random, Executors executors,
       Results& results);

  // Makes sure that everything that is open is under way. Once, before anything else. What an
  // executor has no room for, now or later, is started by start_held, as soon as there is some: at
  // most so many of each kind.
  base::Result<void> recover();
  base::Result<void> start_held(std::size_t most);
  bool may_start_held() const noexcept { return effects_.may_start_held(); }
  std::uint64_t held_effects() const noexcept { return effects_.held(); }

  // What was open and this node has no executor for stays open: how many, by kind.
  const std::map<std::string, std::uint64_t>& unperformed() const noexcept {
    return effects_.unperformed();
  }

  // Reduces an input into the present batch. An error has ended the world.
  base::Result<void> reduce(const Input& input, Heard heard);

  // See kernel::World::write_ahead.
  base::Result<bool> write_ahead() { return world_.write_ahead(); }
  std::size_t dirty_cells() const noexcept { return world_.dirty_cells(); }

  // Ids of events that the world has forgotten before their time.
  std::uint64_t forgotten_event_ids() const noexcept {
    return world_.counters().forgotten_event_ids;
  }

  // Asks the world, as it is with the present batch; what was seen is told when that is durable.
  void ask(const Question& question);

  // The same when the instance has ended, which may be now. The number is the caller's own: it
  // takes the question away again, if it has not been asked. False: too many wait for something.
  bool ask_at_end(std::uint64_t number, const kernel::InstanceName& instance, Question question);
  // The same when it has put something out, ended, or was touched behind record `last`.
  bool ask_when_said(std::uint64_t number, const kernel::InstanceName& instance,
                     store::RecordNumber last, Question question);
  void ask_no_more(std::uint64_t number) {
    watchers_.remove(number);
    listeners_.remove(number);
  }

  // Nobody who waits for something is told any more; or nobody at all.
  bool has_watchers() const noexcept { return !watchers_.empty() || !listeners_.empty(); }
  void let_watchers_go() { watchers_ = listeners_ = {}; }
  void let_go();

  // Inputs that the world refused since this began, by the code.
  using Refusals = std::array<std::uint64_t, 8>;
  const Refusals& refusals() const noexcept { return refusals_; }

  const Batch& batch() const noexcept { return batch_; }
  Batch take_batch(Batch next) { return std::exchange(batch_, std::move(next)); }

  // The batch is durable. In the order of the batches.
  void release(const Batch& batch);

  // What is opened from now on is left to the next start.
  void stop_starting() noexcept { effects_.stop_starting(); }

  // Nothing is performed any more, and nobody reports. From any thread.
  void shut_down_executors() { effects_.shut_down(); }

  // Timers that are due become reports, at most so many; and so do effects whose time is over.
  void fire_timers(std::size_t most);
  // When the next one is due, from any thread; nothing: there is none.
  std::optional<std::uint64_t> next_timer_ns() const { return effects_.next_timer_ns(); }
  bool has_timer_due();
  // To ring when the next one is due, if there is one. False: it is due already.
  [[nodiscard]] bool set(env::Alarm& alarm);

  // See WorldClock: how far the world is ahead of the wall clock, and what an operator is told.
  std::int64_t clock_ahead_ns() { return clock_.ahead_ns(); }
  bool has_clock_news() const noexcept { return clock_.has_news(); }
  std::string take_clock_news() { return clock_.take_news(); }

  // The time of the last tick, or later.
  std::uint64_t last_ns() const noexcept { return clock_.last_ns(); }

  // Mail was left over: an Input::go_on() is wanted before anything else.
  bool wants_to_go_on() const noexcept { return go_on_; }

 private:
  void fill(kernel::Entropy& entropy);
  void carry_out(const Batch& batch);
  void tell_of_ends();

  kernel::World& world_;
  WorldClock clock_;
  env::Random& random_;
  Effects effects_;
  std::array<std::uint8_t, 256 * sizeof(kernel::Entropy)> entropy_stock_{};
  std::size_t entropy_left_ = 0;
  kernel::Tick tick_;
  kernel::Outcome outcome_;
  Batch batch_;
  Watchers watchers_;   // of those that end
  Watchers listeners_;  // of those that put something out
  Refusals refusals_{};
  bool go_on_ = false;
};

}  // namespace holdfast::node
