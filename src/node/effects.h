// SPDX-License-Identifier: Apache-2.0
// Effects: who performs what. It hands opened effects to their executors, and takes them back. From
// any thread: what was open before is started again while new effects are already coming.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "executors/executor.h"
#include "executors/timers.h"
#include "node/time_limits.h"

namespace holdfast::node {

using Executors = std::map<std::string, executors::Executor*, std::less<>>;  // by kind

class Effects {
 public:
  // All of them must outlive it. Timers are its own.
  Effects(Executors executors, executors::Reports& reports);

  // Of what was open before this node began. False: its executor has no room now. One that is late
  // already is not begun any more. One that nobody here performs stays open, and is counted:
  // another node may have it done, or this one when it is set up as it should be.
  bool try_start(const kernel::OpenIntent& open, std::uint64_t now_ns);
  const std::map<std::string, std::uint64_t>& unperformed() const noexcept { return unperformed_; }

  // Of what was opened by this node: one that nobody performs gets a receipt that says so.
  void start(const kernel::OpenIntent& open);
  void stop(const kernel::StopIntent& stop);

  // It has a receipt, and its time limit counts no more.
  void settled(const base::Hash& intent);

  // What is opened from now on is left to the next start.
  void stop_starting() noexcept { starts_ = false; }
  bool starts() const noexcept { return starts_; }

  // Nothing is performed any more, and nobody reports.
  void shut_down();

  // Timers that are due by then become reports, at most so many; and so do effects whose time limit
  // is over: their executors are told to stop them, and what they report later is too late.
  void fire_timers(std::uint64_t now_ns, std::size_t most);
  std::optional<std::uint64_t> next_timer_ns() const;

 private:
  executors::Executor* executor_of(const kernel::EffectProgram& effect);
  std::optional<base::Hash> stop_late(std::uint64_t now_ns);
  void set_limit(executors::Executor& executor, const kernel::OpenIntent& open);

  Executors executors_;
  executors::Reports& reports_;
  executors::Timers timers_;
  std::map<std::string, std::uint64_t> unperformed_;
  std::mutex starting_;  // room that was found is still there when it is used; outside the others
  std::atomic<bool> starts_ = true;
  mutable std::mutex limiting_;  // guards the limits; nothing is called with it
  TimeLimits limits_;
};

}  // namespace holdfast::node
