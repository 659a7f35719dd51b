// SPDX-License-Identifier: Apache-2.0
#include "node/effects.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/crc32c.h"
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

void report_late(const base::Hash& intent, const TimeLimits::Limited& limited,
                 executors::Reports& reports) {
  const executors::Receipt late =
      limited.waits
          ? executors::timed_out("effect.queue_timeout", "no worker took it within its time limit")
          : executors::timed_out("effect.timeout", "it has not ended within its time limit");
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  receipt.fence.dispatch = limited.dispatch;
  receipt.status = late.status;
  receipt.payload = late.payload;
  reports.report(receipt);
}

// At the end of time at the latest.
std::uint64_t after(std::uint64_t begin_ns, std::uint64_t limit_ns) {
  return begin_ns + std::min(limit_ns, std::numeric_limits<std::uint64_t>::max() - begin_ns);
}

// Nothing: it may take as long as it likes.
std::optional<std::uint64_t> end_of_time(const executors::Executor& executor,
                                         const kernel::OpenIntent& open) {
  const auto limit_ns = executor.time_limit_ns(open);
  if (!limit_ns) return std::nullopt;
  return after(open.opened_ns, *limit_ns);
}

// What takes turns while it waits: workflows, and what shares an executor, such as a host. There
// may be any number of hosts, so some of them wait in one line.
constexpr std::size_t kShareLines = 64;

std::string line_of(const executors::Executor& executor, const kernel::OpenIntent& open) {
  const std::string share = executor.share_of(open);
  std::string line(open.workflow);
  if (share.empty()) return line;
  return line + "\n" + std::to_string(base::crc32c(base::as_bytes(share)) % kShareLines);
}

}  // namespace

Effects::Effects(Executors executors, Results& results)
    : executors_(std::move(executors)), results_(results) {
  executors_["timer"] = &timers_;
}

executors::Executor* Effects::executor_of(const kernel::EffectProgram& effect) {
  const auto found = executors_.find(effect.executor.kind);
  return found == executors_.end() ? nullptr : found->second;
}

void Effects::resume(const kernel::OpenIntent& open,
                     const std::shared_ptr<const kernel::Work>& work, std::uint64_t now_ns) {
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) {
    ++unperformed_[open.effect->executor.kind];
    return;
  }
  if (executor->is_leased_out(open)) {  // one that is late is told like the others, and then ended
    set_leased_limit(*executor, open, work.get());
    return executor->resume(open, work);
  }
  const auto end_ns = end_of_time(*executor, open);
  if (end_ns && *end_ns <= now_ns) return report_late(open.intent, {}, reports_of(open));
  start_or_hold(*executor, open);
}

void Effects::recovered() {
  for (const auto& [kind, executor] : executors_) executor->recovered();
}

void Effects::hear(const kernel::WorkNews& news) {
  using Kind = kernel::WorkNews::Kind;
  if (news.kind == Kind::kEnded) settled(news.open.intent);
  if (news.kind == Kind::kWorker) {
    for (const auto& [kind, executor] : executors_) executor->hear(news);
    return;
  }
  executors::Executor* const executor = executor_of(*news.open.effect);
  if (executor == nullptr) return;
  if (news.kind == Kind::kLeased || news.kind == Kind::kReturned)
    set_leased_limit(*executor, news.open, news.work.get());
  executor->hear(news);
}

// From the lease, or for the wait.
void Effects::set_leased_limit(executors::Executor& executor, const kernel::OpenIntent& open,
                               const kernel::Work* work) {
  const kernel::Lease* const lease = work != nullptr && work->lease ? &*work->lease : nullptr;
  const std::lock_guard lock(limiting_);
  limits_.remove(open.intent);
  if (lease != nullptr) {
    if (!lease->time_limit_ns) return;
    return limits_.add(after(lease->leased_ns, *lease->time_limit_ns), open.intent,
                       {&executor, lease->dispatch, false});
  }
  const auto limit_ns = executor.time_limit_ns(open);
  if (!limit_ns) return;
  limits_.add(after(work != nullptr ? work->queued_ns : open.opened_ns, *limit_ns), open.intent,
              {&executor, 0, true});
}

void Effects::start(const kernel::OpenIntent& open) {
  if (!starts_) return;
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) return report_unknown(open, reports_of(open));
  start_or_hold(*executor, open);
}

// Nobody overtakes those of its kind that wait already.
void Effects::start_or_hold(executors::Executor& executor, const kernel::OpenIntent& open) {
  const std::lock_guard lock(starting_);
  set_limit(executor, open);  // also while it is held back
  const auto backlog = backlogs_.find(open.effect->executor.kind);
  const bool waits = backlog != backlogs_.end() && !backlog->second.empty();
  if (!waits && executor.has_room(open)) return executor.start(open, reports_of(open));
  backlogs_[open.effect->executor.kind].add(line_of(executor, open), open.intent);
  count_held();
  if (waits) may_have_room_ = true;  // its line may be one that has room
}

void Effects::count_held() {
  std::uint64_t held = 0;
  for (const auto& [kind, backlog] : backlogs_) held += backlog.size();
  held_ = held;
}

base::Result<Backlog::Offered> Effects::try_held(executors::Executor& executor,
                                                 const base::Hash& intent, std::uint64_t now_ns,
                                                 const Find& find) {
  const auto open = TRY(find(intent));
  if (!open) return Backlog::Offered::kTaken;
  const auto end_ns = end_of_time(executor, *open);
  if (end_ns && *end_ns <= now_ns) return Backlog::Offered::kTaken;  // is reported as late
  if (!executor.has_room(*open)) return Backlog::Offered::kNoRoom;
  executor.start(*open, reports_of(*open));
  return Backlog::Offered::kTaken;
}

base::Result<void> Effects::start_held(std::uint64_t now_ns, std::size_t most, const Find& find) {
  if (!may_start_held()) return {};
  const std::lock_guard lock(starting_);
  may_have_room_ = false;  // what is reported from now on counts
  std::optional<base::Error> failure;
  for (auto& [kind, backlog] : backlogs_) {
    executors::Executor& executor = *executors_.find(kind)->second;
    const bool has_more = backlog.offer(most, [&](const base::Hash& intent) {
      if (failure) return Backlog::Offered::kNoRoom;
      auto tried = try_held(executor, intent, now_ns, find);
      if (tried) return *tried;
      failure = std::move(tried).error();
      return Backlog::Offered::kNoRoom;
    });
    if (failure) return std::move(*failure);
    if (has_more && !backlog.empty()) may_have_room_ = true;
  }
  count_held();
  return {};
}

// Before it is started: whoever reports takes it away.
void Effects::set_limit(executors::Executor& executor, const kernel::OpenIntent& open) {
  const auto end_ns = end_of_time(executor, open);
  if (!end_ns) return;
  const std::lock_guard lock(limiting_);
  limits_.add(*end_ns, open.intent, {&executor, 0, executor.is_leased_out(open)});
}

void Effects::settled(const base::Hash& intent) {
  const std::lock_guard lock(limiting_);
  limits_.remove(intent);
}

// Ended before anybody hears of it, and not between being noted and being started.
Effects::Late Effects::end_late(std::uint64_t now_ns, TimeLimits::Over& late) {
  const std::lock_guard starting(starting_);
  std::unique_lock lock(limiting_);
  const auto over = limits_.take(now_ns);
  lock.unlock();
  if (!over) return Late::kNone;
  late = *over;
  if (over->limited.dispatch != 0 || over->limited.waits) return Late::kToReport;
  for (auto& [kind, backlog] : backlogs_) backlog.remove(over->intent);
  return over->limited.executor->end_late(over->intent) ? Late::kToReport : Late::kEndsItself;
}

void Effects::fire_timers(std::uint64_t now_ns, std::size_t most) {
  timers_.fire(now_ns, most);
  TimeLimits::Over late;
  for (; most > 0; --most) {
    const Late ended = end_late(now_ns, late);
    if (ended == Late::kNone) return;
    if (ended == Late::kToReport) report_late(late.intent, late.limited, results_.own_reports());
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
  executors::Executor* const executor = executor_of(*stop.effect);
  if (executor == nullptr) return;
  const std::lock_guard lock(starting_);
  if (const auto held = backlogs_.find(stop.effect->executor.kind); held != backlogs_.end()) {
    held->second.remove(stop.intent);
    count_held();
  }
  executor->stop(stop.intent);
  reported();
}

void Effects::shut_down() {
  for (const auto& [kind, executor] : executors_) executor->shut_down();
}

}  // namespace holdfast::node
