// SPDX-License-Identifier: Apache-2.0
// Effects: who performs what. It hands opened effects to their executors, and takes them back. What
// an executor has no room for is held back (node/backlog.h) and handed over when there is some, be
// it new or open since before a restart. From any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "executors/executor.h"
#include "executors/timers.h"
#include "node/backlog.h"
#include "node/results.h"
#include "node/time_limits.h"

namespace holdfast::node {

using Executors = std::map<std::string, executors::Executor*, std::less<>>;  // by kind

class Effects {
 public:
  // All of them must outlive it. Timers are its own.
  Effects(Executors executors, Results& results);

  // Of what was open before this node began. One that is late already is not begun any more. One
  // that nobody here performs stays open, and is counted: another node may have it done, or this
  // one when it is set up as it should be.
  void resume(const kernel::OpenIntent& open, const std::shared_ptr<const kernel::Work>& work,
              std::uint64_t now_ns);
  void recovered();
  const std::map<std::string, std::uint64_t>& unperformed() const noexcept { return unperformed_; }

  // Of what was opened by this node: one that nobody performs gets a receipt that says so.
  void start(const kernel::OpenIntent& open);
  void stop(const kernel::StopIntent& stop);

  // What has changed for those who place work on workers.
  void hear(const kernel::WorkNews& news);

  // It has a receipt, and its time limit counts no more.
  void settled(const base::Hash& intent);

  // An executor has reported, be it in vain: it may have room now.
  void reported() noexcept { may_have_room_ = true; }

  // Hands over what was held back, as far as there is room, and at most so many of each kind.
  // `find` has what an intent is; nothing: it is not open any more.
  using Find = std::function<base::Result<std::optional<kernel::OpenIntent>>(const base::Hash&)>;
  base::Result<void> start_held(std::uint64_t now_ns, std::size_t most, const Find& find);

  // Something is held back, and there may be room for it now.
  bool may_start_held() const noexcept { return starts_ && may_have_room_ && held_ != 0; }
  std::uint64_t held() const noexcept { return held_; }

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
  executors::Reports& reports_of(const kernel::OpenIntent& open) {
    return results_.reports_of(open.workflow, open.key);
  }
  void start_or_hold(executors::Executor& executor, const kernel::OpenIntent& open);
  base::Result<Backlog::Offered> try_held(executors::Executor& executor, const base::Hash& intent,
                                          std::uint64_t now_ns, const Find& find);
  void count_held();
  enum class Late : std::uint8_t { kNone, kEndsItself, kToReport };
  Late end_late(std::uint64_t now_ns, TimeLimits::Over& over);
  void set_limit(executors::Executor& executor, const kernel::OpenIntent& open);
  void set_leased_limit(executors::Executor& executor, const kernel::OpenIntent& open,
                        const kernel::Work* work);

  Executors executors_;
  Results& results_;
  executors::Timers timers_;
  std::map<std::string, std::uint64_t> unperformed_;
  std::mutex starting_;  // room that was found is still there when it is used; outside the others
  std::map<std::string, Backlog> backlogs_;  // by kind; guarded by `starting_`
  std::atomic<std::uint64_t> held_ = 0;      // in all of them
  std::atomic<bool> may_have_room_ = false;  // since they were offered last
  std::atomic<bool> starts_ = true;
  mutable std::mutex limiting_;  // guards the limits; nothing is called with it
  TimeLimits limits_;
};

}  // namespace holdfast::node
