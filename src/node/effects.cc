// SPDX-License-Identifier: Apache-2.0
#include "node/effects.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/buffer.h"
#include "executors/receipt.h"
#include "kernel/effect_error.h"

namespace holdfast::node {
namespace {

// The receipt of an effect that nobody here can perform.
void report_unknown(const kernel::OpenIntent& open, executors::Reports& reports) {
  codec::Buffer error;
  kernel::write_effect_error(error, "executor.unknown",
                             "this node has no executor '" + open.effect->executor.kind + "'");
  kernel::ReceiptArrived receipt;
  receipt.intent = open.intent;
  receipt.status = kernel::ReceiptStatus::kError;
  receipt.payload = error.view();
  reports.report(receipt);
}

void report_late(const base::Hash& intent, executors::Reports& reports) {
  const executors::Receipt late =
      executors::timed_out("effect.timeout", "it has not ended within its time limit");
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  receipt.status = late.status;
  receipt.payload = late.payload;
  reports.report(receipt);
}

// Nothing: it may take as long as it likes, or somebody else looks at the clock.
std::optional<std::uint64_t> end_of_time(const executors::Executor& executor,
                                         const kernel::OpenIntent& open) {
  if (!open.effect->timeout_ns || executor.keeps_time_limits()) return std::nullopt;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - open.opened_ns;
  return open.opened_ns + std::min(*open.effect->timeout_ns, most);
}

}  // namespace

Effects::Effects(Executors executors, executors::Reports& reports)
    : executors_(std::move(executors)), reports_(reports) {
  executors_["timer"] = &timers_;
}

executors::Executor* Effects::executor_of(const kernel::EffectProgram& effect) {
  const auto found = executors_.find(effect.executor.kind);
  return found == executors_.end() ? nullptr : found->second;
}

bool Effects::try_start(const kernel::OpenIntent& open, std::uint64_t now_ns) {
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) {
    ++unperformed_[open.effect->executor.kind];
    return true;
  }
  const auto end_ns = end_of_time(*executor, open);
  if (end_ns && *end_ns <= now_ns) {
    report_late(open.intent, reports_);
    return true;
  }
  const std::lock_guard lock(starting_);
  set_limit(*executor, open);  // also while it waits for room
  if (!executor->has_room(open)) return false;
  executor->start(open, reports_);
  return true;
}

void Effects::start(const kernel::OpenIntent& open) {
  if (!starts_) return;
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) return report_unknown(open, reports_);
  const std::lock_guard lock(starting_);
  set_limit(*executor, open);
  executor->start(open, reports_);
}

// Before it is started: whoever reports takes it away.
void Effects::set_limit(executors::Executor& executor, const kernel::OpenIntent& open) {
  const auto end_ns = end_of_time(executor, open);
  if (!end_ns) return;
  const std::lock_guard lock(limiting_);
  limits_.add(*end_ns, open.intent, executor);
}

void Effects::settled(const base::Hash& intent) {
  const std::lock_guard lock(limiting_);
  limits_.remove(intent);
}

// Stopped before anybody hears of it, and not between being noted and being started.
std::optional<base::Hash> Effects::stop_late(std::uint64_t now_ns) {
  const std::lock_guard starting(starting_);
  std::unique_lock lock(limiting_);
  const auto over = limits_.take(now_ns);
  lock.unlock();
  if (!over) return std::nullopt;
  over->executor->stop(over->intent);
  return over->intent;
}

void Effects::fire_timers(std::uint64_t now_ns, std::size_t most) {
  timers_.fire(now_ns, most, reports_);
  for (; most > 0; --most) {
    const auto late = stop_late(now_ns);
    if (!late) return;
    report_late(*late, reports_);
  }
}

std::optional<std::uint64_t> Effects::next_timer_ns() const {
  const auto timer = timers_.next_ns();
  const std::lock_guard lock(limiting_);
  const auto limit = limits_.next_ns();
  return timer && limit ? std::min(*timer, *limit) : timer ? timer : limit;
}

void Effects::stop(const kernel::StopIntent& stop) {
  settled(stop.intent);
  if (executors::Executor* executor = executor_of(*stop.effect)) executor->stop(stop.intent);
}

void Effects::shut_down() {
  for (const auto& [kind, executor] : executors_) executor->shut_down();
}

}  // namespace holdfast::node
