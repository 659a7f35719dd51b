// SPDX-License-Identifier: Apache-2.0
// What the desk does by itself: placing tasks, giving up those that no worker fits, and watching
// workers. Decisions are made under the lock, and the engine is called after it.
#include <algorithm>
#include <utility>

#include "tasks/task_machine.h"
#include "workers/desk.h"
#include "workers/payloads.h"

namespace holdfast::workers {
namespace {

// How often graces, denials and heartbeats are looked at. They are measured in seconds.
constexpr std::uint64_t kSlowNs = dispatch::kSecondNs / 4;

// After the engine refused to record something, as on a full disk.
constexpr std::uint64_t kPauseNs = dispatch::kSecondNs;
constexpr std::uint64_t kTryAgainNs = 5 * dispatch::kSecondNs;

// Reasons that an error names; `why` has all of them.
constexpr std::size_t kReasonsShown = 3;

std::string give_up_message(dispatch::GiveUpReason reason, const dispatch::Explanation& why) {
  std::string text = reason == dispatch::GiveUpReason::kExhausted
                         ? "every worker that fits has failed this task"
                         : "no worker fits this task";
  for (std::size_t i = 0; i < why.workers.size() && i < kReasonsShown; ++i)
    text.append(i == 0 ? ": " : "; ")
        .append(why.workers[i].name)
        .append(" ")
        .append(why.workers[i].reason);
  const std::size_t more =
      why.more_workers + why.workers.size() - std::min(why.workers.size(), kReasonsShown);
  if (more != 0) text += "; and " + std::to_string(more) + " more";
  return text;
}

}  // namespace

void Desk::loop() {
  for (;;) {
    Actions actions;
    bool is_more = false;
    {
      std::unique_lock lock(mutex_);
      // While workers or tasks are known, time matters; otherwise nothing does.
      const auto is_due = [this] { return has_changed_ || is_stopped_; };
      if (tasks_.empty() && parked_until_.empty() && !watchdog_.next_ns()) {
        changed_.wait(lock, is_due);
      } else {
        std::uint64_t wait = kSlowNs;
        if (!parked_until_.empty()) {
          const std::uint64_t now = now_ns();
          const std::uint64_t until = parked_until_.begin()->first;
          wait = std::min(wait, until > now ? until - now : 0);
        }
        changed_.wait_for(lock, std::chrono::nanoseconds(wait), is_due);
      }
      if (is_stopped_) return;
      is_more = turn(actions);
    }
    run(actions);
    if (!is_more) continue;
    const std::lock_guard lock(mutex_);
    has_changed_ = true;
  }
}

void Desk::step() {
  for (bool is_more = true; is_more;) {
    Actions actions;
    {
      const std::lock_guard lock(mutex_);
      is_more = turn(actions);
    }
    run(actions);
  }
}

bool Desk::turn(Actions& actions) {
  has_changed_ = false;
  const std::uint64_t now = now_ns();
  if (now - last_slow_ns_ >= kSlowNs) {
    last_slow_ns_ = now;
    watch(now, actions);
    expire(now, actions);
    for (std::string& id : dispatcher_.plan_swaps()) touched_.insert(std::move(id));
  }
  place(now, actions);
  for (; !delayed_.empty() && delayed_.begin()->first <= now; delayed_.erase(delayed_.begin()))
    touched_.insert(delayed_.begin()->second);
  for (const std::string& id : std::exchange(touched_, {})) {
    const auto at = workers_.find(id);
    if (at != workers_.end()) look_at_parked(at->second, now, actions);
  }
  while (!parked_until_.empty() && parked_until_.begin()->first <= now) {
    Worker& worker = workers_.find(parked_until_.begin()->second)->second;
    const PendingPtr pending = worker.parked;
    unpark(worker);
    answer(worker, pending, actions);
  }
  wake_readers(actions);
  return engine_ != nullptr && now >= place_not_before_ns_ && dispatcher_.has_more();
}

void Desk::watch(std::uint64_t now, Actions& actions) {
  if (engine_ == nullptr) return;
  const dispatch::Watchdog::Verdicts verdicts = watchdog_.look(now);
  for (const std::string& id : verdicts.silent) dispatcher_.set_live(id, false);
  for (const std::string& id : verdicts.lost) {
    ++totals_.lost_workers;
    log("worker " + id + " is lost: it was not heard in time");
    actions.push_back([self = shared_from_this(), engine = engine_, id] {
      engine->change_worker({.worker = id,
                             .kind = WorkerChange::Kind::kLose,
                             .reason = "no heartbeat within its TTL and grace"},
                            [self, id](const Result<WorkerChanged>& changed) {
                              if (changed || changed.error().code == ErrorCode::kNotFound) return;
                              const std::lock_guard lock(self->mutex_);
                              self->watchdog_.try_again(id, self->now_ns(), kTryAgainNs);
                            });
    });
  }
  const std::uint64_t denial = sent_for_ns() + options_.watchdog.ttl_ns;
  for (auto& [id, worker] : workers_) {
    // A worker could not say what it holds while the server did not run.
    if (verdicts.after_pause) worker.deliveries.restart_clock(now);
    if (!watchdog_.is_live(id)) continue;
    const auto denied = worker.deliveries.denied(now, denial, kMaxBatch);
    if (denied.empty()) continue;
    worker.deliveries.restart_clock(now);  // in case that it cannot be recorded
    totals_.denied += denied.size();
    std::vector<WorkReturn> returns;
    for (const dispatch::Dispatch& each : denied)
      returns.push_back({.intent = {each.intent.bytes},
                         .dispatch = each.number,
                         .reason = ReturnReason::kDenied});
    actions.push_back([engine = engine_, id = id, returns = std::move(returns)] {
      engine->give_back(id, returns, [](const Result<WorkAnswers>&) {});
    });
  }
}

void Desk::expire(std::uint64_t now, Actions& actions) {
  if (engine_ == nullptr) return;
  std::vector<WorkReceipt> receipts;
  for (const dispatch::GiveUp& each : dispatcher_.expire(now, kMaxBatch)) {
    const bool is_exhausted = each.reason == dispatch::GiveUpReason::kExhausted;
    const TaskFailure failure{
        .code = is_exhausted ? "task.workers_exhausted" : "task.no_eligible_worker",
        .message = give_up_message(each.reason, *each.why),
        .is_retryable = false,
        .details = tasks::given_up_details()};
    receipts.push_back({.intent = {each.intent.bytes},
                        .status = Status::kError,
                        .payload = receipt_of_failure(failure)});
  }
  if (receipts.empty()) return;
  actions.push_back([self = shared_from_this(), engine = engine_, receipts = std::move(receipts)] {
    engine->settle_work("", receipts, [self, receipts](const Result<WorkAnswers>& answers) {
      const std::lock_guard lock(self->mutex_);
      for (std::size_t i = 0; i < receipts.size(); ++i) {
        if (answers && (*answers)[i]) continue;  // the feed has told the rest
        const std::uint64_t later = self->now_ns();
        self->dispatcher_.put_back({receipts[i].intent.bytes}, later, later);
      }
    });
  });
}

void Desk::place(std::uint64_t now, Actions& actions) {
  if (engine_ == nullptr || now < place_not_before_ns_) return;
  const std::vector<dispatch::Choice> choices = dispatcher_.choose(now, kMaxBatch);
  std::map<std::string, std::vector<dispatch::Choice>> by_worker;
  for (const dispatch::Choice& choice : choices) by_worker[choice.worker].push_back(choice);
  for (const auto& [worker, chosen] : by_worker) lease(worker, chosen, actions);
}

void Desk::lease(const std::string& id, const std::vector<dispatch::Choice>& choices,
                 Actions& actions) {
  std::vector<LeaseRequest> requests;
  std::vector<Hash> intents;
  for (const dispatch::Choice& choice : choices) {
    const TaskState& task = tasks_.at(choice.intent);
    const Execution execution =
        next_execution(task.attempt, task.losses, task.max_attempts, task.may_run_again);
    LeaseRequest request{.intent = {choice.intent.bytes},
                         .detail = detail_of(choice.devices),
                         .if_lost = execution.if_lost};
    if (task.time_limit_ns != 0) request.time_limit_ns = task.time_limit_ns;
    intents.push_back(request.intent);
    requests.push_back(std::move(request));
  }
  ++workers_.find(id)->second.leasing;
  actions.push_back([self = shared_from_this(), engine = engine_, id, intents = std::move(intents),
                     requests = std::move(requests)] {
    engine->lease(id, requests, [self, id, intents](const Result<Leased>& answer) {
      self->leases_answered(id, intents, answer);
    });
  });
}

void Desk::leases_answered(const std::string& id, const std::vector<Hash>& intents,
                           const Result<Leased>& answer) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = now_ns();
  if (!answer) {
    // A worker that may not work any more is told so by the feed; everything else passes.
    if (answer.error().code != ErrorCode::kConflict && answer.error().code != ErrorCode::kNotFound)
      place_not_before_ns_ = now + kPauseNs;
    for (const Hash& intent : intents) dispatcher_.put_back({intent.bytes}, now, now);
  } else {
    for (const LeaseVerdict& verdict : answer->verdicts) {
      if (verdict.kind == LeaseVerdict::Kind::kGranted || verdict.kind == LeaseVerdict::Kind::kHeld)
        continue;  // the feed has told who has it
      dispatcher_.remove({verdict.intent.bytes}, now);
      tasks_.erase({verdict.intent.bytes});
    }
  }
  const auto at = workers_.find(id);
  if (at != workers_.end()) {
    --at->second.leasing;
    touched_.insert(id);
  }
  changed();
}

}  // namespace holdfast::workers
