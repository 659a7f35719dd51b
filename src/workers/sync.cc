// SPDX-License-Identifier: Apache-2.0
// Sync: the request that carries reports, heartbeats and the wish for work. Reports are answered
// when they are durable; a request without any may be parked until there is something to say.
#include <algorithm>
#include <utility>

#include "tasks/large_result.h"
#include "workers/delivery.h"
#include "workers/desk.h"
#include "workers/payloads.h"

namespace holdfast::workers {
namespace {

// A request with reports whose worker is being given work waits for that so long at most.
constexpr std::uint64_t kAwaitLeaseNs = 2 * dispatch::kSecondNs;

ReturnReason reason_of(BackReason reason) {
  switch (reason) {
    case BackReason::kDrain: return ReturnReason::kDrain;
    case BackReason::kRefused: return ReturnReason::kRefused;
    case BackReason::kYield: break;
  }
  return ReturnReason::kYield;
}

// Until an input that could not be made ready is tried again.
constexpr std::uint64_t kDeliverAgainNs = dispatch::kSecondNs / 2;

// What the engine will never take, however often it is sent.
bool is_wrong(const Error& error) {
  return error.code == ErrorCode::kInvalid || error.code == ErrorCode::kTooLarge;
}

}  // namespace

std::function<void()> Desk::sync(SyncRequest request, Then<SyncAnswer> then) {
  Actions actions;
  bool is_taken = false;
  const auto pending = std::make_shared<Pending>();
  pending->worker = request.worker;
  pending->then = std::move(then);
  pending->answer.seq = request.seq;
  pending->has_reports = request.has_reports();
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t now = now_ns();
    ++totals_.syncs;
    const auto at = workers_.find(request.worker);
    if (at == workers_.end() || is_stopped_ || engine_ == nullptr) {
      pending->answer.refused = Refused::kUnknown;
    } else if (at->second.session.empty() || at->second.session != request.session) {
      pending->answer.refused = Refused::kSession;
    }
    if (pending->answer.refused != Refused::kNo) {
      actions.push_back([pending] { pending->then(std::move(pending->answer)); });
    } else {
      Worker& worker = at->second;
      take_logs(request, pending->answer);
      pending->is_newest = request.seq > worker.last_seq;
      if (pending->is_newest) {
        worker.last_seq = request.seq;
        // One that was sent before says nothing of how the worker is now, nor of what it holds.
        if (watchdog_.heard(request.worker, now)) {
          dispatcher_.set_live(request.worker, true);
          worker.deliveries.restart_clock(now);
        }
        if (const PendingPtr older = worker.parked) {
          unpark(worker);
          older->is_newest = false;
          answer(worker, older, actions);
        }
        std::vector<dispatch::Dispatch> held;
        std::set<std::string> unknown;
        for (const NamedDispatch& each : request.holding) {
          if (each.ours && worker.deliveries.has(*each.ours)) {
            held.push_back(*each.ours);
          } else {
            unknown.insert(each.text);
          }
        }
        // What it reports gets a result of its own.
        for (const DoneReport& each : request.done) unknown.erase(each.d.text);
        for (const BackReport& each : request.back) unknown.erase(each.d.text);
        worker.drops = std::move(unknown);
        worker.deliveries.compare(held, now);
        pending->until_ns = now + std::min(request.wait_ms, max_wait_ms()) * 1'000'000;
        take_recipes(request.worker, std::move(request.recipes));
        dispatcher_.set_want(request.worker, request.is_draining ? 0 : request.want);
      }
      is_taken = true;
      pending->open = 1;  // until everything is asked for
      report(pending, request, actions);
      changed();
      wake_readers(actions);
    }
  }
  run(actions);
  if (is_taken) one_answered(pending);
  return [self = weak_from_this(), pending] {
    const auto desk = self.lock();
    if (!desk) return;
    const std::lock_guard lock(desk->mutex_);
    const auto at = desk->workers_.find(pending->worker);
    if (at != desk->workers_.end() && at->second.parked == pending) desk->unpark(at->second);
  };
}

void Desk::take_recipes(const std::string& id, std::optional<dispatch::RecipeState> state) {
  const auto index = dispatcher_.fleet().find(id);
  if (!index) return;
  const auto& before = dispatcher_.fleet().at(*index).recipes;
  if (before && state && !before->swapping.empty() && before->swapping != state->swapping) {
    const bool is_done = std::ranges::binary_search(state->serving, before->swapping);
    ++(is_done ? totals_.swaps : totals_.failed_swaps);
    log("worker " + id + (is_done ? " has swapped to " : " has not swapped to ") +
        before->swapping + (state->problem.empty() ? "" : ": " + state->problem));
  }
  dispatcher_.set_recipes(id, std::move(state));
}

std::string Desk::swap_of(const Worker& worker) const {
  const auto index = dispatcher_.fleet().find(worker.info.worker);
  return index ? dispatcher_.fleet().at(*index).asked_for : "";
}

void Desk::take_logs(const SyncRequest& request, SyncAnswer& answer) {
  for (const LogReport& each : request.logs) {
    std::uint64_t next = each.from + each.lines.size();
    const auto worker = workers_.find(request.worker);
    const bool counts = each.d.ours && worker->second.deliveries.has(*each.d.ours);
    const auto task = counts ? tasks_.find(each.d.ours->intent) : tasks_.end();
    if (task != tasks_.end()) {
      const TaskState& state = task->second;
      const LogReportOfTask kept{state.log, each.d.ours->number, state.attempt + state.losses,
                                 each.from, each.lines};
      next = logs_.append(kept.task, kept.dispatch, kept.attempt, kept.from, kept.lines);
      if (log_file_) log_file_->append(kept);
    }
    answer.logs_to.emplace_back(each.d.text, next);
  }
}

// The result is durable before the receipt that refers to it, and is kept for it until that is
// durable.
void Desk::settle_large(const PendingPtr& pending, std::size_t place, WorkReceipt receipt,
                        const Bytes& result, Actions& actions) {
  ++pending->open;
  actions.push_back([self = shared_from_this(), recorder = recorder_, pending, place,
                     receipt = std::move(receipt), result]() mutable {
    const std::size_t bytes = result.size();
    recorder->keep_blob(
        std::move(result), [self, recorder, pending, place, receipt = std::move(receipt),
                            bytes](const Result<Engine::KeptBlob>& kept) mutable {
          if (!kept) return self->reports_answered(pending, {place}, kept.error());
          receipt.payload = receipt_of_result(tasks::write_reference({{kept->hash.bytes}, bytes}));
          recorder->settle_work(
              pending->worker, {std::move(receipt)},
              [self, pending, place, pin = kept->pin](const Result<WorkAnswers>& answers) {
                self->reports_answered(pending, {place}, answers);
              });
        });
  });
}

// Asks the engine to record what is reported. Each call that is asked for counts in `open`.
void Desk::report(const PendingPtr& pending, const SyncRequest& request, Actions& actions) {
  const std::uint64_t now = now_ns();
  std::vector<WorkReceipt> receipts;
  std::vector<std::size_t> places;
  auto& results = pending->answer.results;
  const dispatch::Deliveries& deliveries = workers_.find(request.worker)->second.deliveries;
  for (const DoneReport& each : request.done) {
    results.push_back({.d = each.d.text});
    if (!each.d.ours) continue;
    if (each.payload.size() > options_.max_result_bytes) {
      results.back() = {.d = each.d.text,
                        .kind = ReportResult::Kind::kRefused,
                        .code = "too_large",
                        .detail = "the result has " + std::to_string(each.payload.size()) +
                                  " bytes; at most " + std::to_string(options_.max_result_bytes) +
                                  " are allowed"};
      continue;
    }
    // Of a task that another worker holds it would free what that one uses.
    if (deliveries.has(*each.d.ours)) dispatcher_.reported(each.d.ours->intent, now);
    WorkReceipt receipt{.intent = {each.d.ours->intent.bytes},
                        .dispatch = each.d.ours->number,
                        .status = each.status};
    if (each.status == Status::kOk && tasks::is_kept_as_blob(each.payload)) {
      settle_large(pending, results.size() - 1, std::move(receipt), each.payload, actions);
      continue;
    }
    places.push_back(results.size() - 1);
    if (each.status == Status::kOk) {
      receipt.payload = receipt_of_result(each.payload);
    } else if (each.status == Status::kCancelled && !deliveries.stopping().contains(*each.d.ours)) {
      // Nobody has asked for that: a failure like any other.
      TaskFailure failure = each.error;
      failure.code = "task.cancelled_by_worker";
      receipt.status = Status::kError;
      receipt.payload = receipt_of_failure(failure);
    } else {
      receipt.payload = receipt_of_failure(each.error);
    }
    receipts.push_back(std::move(receipt));
  }
  const auto answered = [self = shared_from_this(), pending](std::vector<std::size_t> of) {
    return [self, pending, of = std::move(of)](const Result<WorkAnswers>& answers) {
      self->reports_answered(pending, of, answers);
    };
  };
  Recorder* const engine = engine_;
  const std::string& id = request.worker;
  if (!receipts.empty()) {
    ++pending->open;
    actions.push_back([engine, id, receipts = std::move(receipts), then = answered(places)] {
      engine->settle_work(id, receipts, then);
    });
  }
  std::vector<WorkReturn> returns;
  places.clear();
  for (const BackReport& each : request.back) {
    results.push_back({.d = each.d.text});
    if (!each.d.ours) continue;
    places.push_back(results.size() - 1);
    returns.push_back({.intent = {each.d.ours->intent.bytes},
                       .dispatch = each.d.ours->number,
                       .reason = reason_of(each.reason),
                       .resume = each.resume});
  }
  if (!returns.empty()) {
    ++pending->open;
    actions.push_back([engine, id, returns = std::move(returns), then = answered(places)] {
      engine->give_back(id, returns, then);
    });
  }
  std::vector<WorkProgress> progress;
  for (const ProgressReport& each : request.progress) {
    if (!each.d.ours) continue;
    progress.push_back({.intent = {each.d.ours->intent.bytes},
                        .dispatch = each.d.ours->number,
                        .sequence = each.number,
                        .kind = "progress",
                        .payload = each.payload});
  }
  if (!progress.empty()) {
    actions.push_back([engine, id, progress = std::move(progress)] {
      engine->progress_work(id, progress, [](const Result<WorkAnswers>&) {});
    });
  }
  const Worker& worker = workers_.find(id)->second;
  if (request.is_draining && pending->is_newest && worker.info.mode == WorkerMode::kActive) {
    ++pending->open;
    actions.push_back([self = shared_from_this(), engine, id, pending] {
      engine->change_worker(
          {.worker = id, .kind = WorkerChange::Kind::kDrain, .reason = "it is being stopped"},
          [self, pending](const Result<WorkerChanged>& changed) {
            if (!changed) {
              const std::lock_guard lock(self->mutex_);
              pending->failed = changed.error();
            }
            self->one_answered(pending);
          });
    });
  }
}

void Desk::reports_answered(const PendingPtr& pending, const std::vector<std::size_t>& places,
                            const Result<WorkAnswers>& answers) {
  {
    const std::lock_guard lock(mutex_);
    if (!answers) pending->failed = answers.error();
    for (std::size_t i = 0; answers && i < places.size(); ++i) {
      ReportResult& result = pending->answer.results[places[i]];
      const Result<WorkAnswer>& each = (*answers)[i];
      if (!each && is_wrong(each.error())) {
        result.kind = ReportResult::Kind::kRefused;
        result.code = each.error().code == ErrorCode::kTooLarge ? "too_large" : "schema";
        result.detail = each.error().message;
      } else if (!each) {
        pending->failed = each.error();
      } else if (each->verdict == WorkVerdict::kStale) {
        ++totals_.stale_reports;
      } else {
        result.kind = ReportResult::Kind::kOk;
      }
    }
  }
  one_answered(pending);
}

void Desk::one_answered(const PendingPtr& pending) {
  Actions actions;
  {
    const std::lock_guard lock(mutex_);
    if (--pending->open != 0) return;
    finish(pending, actions);
  }
  run(actions);
}

void Desk::finish(const PendingPtr& pending, Actions& actions) {
  // Some reports may be recorded; sent again they are answered as repeated.
  if (pending->failed) {
    actions.push_back([pending] { pending->then(*pending->failed); });
    return;
  }
  const auto at = workers_.find(pending->worker);
  if (at == workers_.end() || at->second.session.empty() || is_stopped_) {
    // Its results hold all the same.
    actions.push_back([pending] { pending->then(std::move(pending->answer)); });
    return;
  }
  Worker& worker = at->second;
  const std::uint64_t now = now_ns();
  // A newer request is here: this one has nothing more to say.
  if (pending->is_newest && worker.last_seq != pending->answer.seq) pending->is_newest = false;
  if (pending->has_reports) pending->until_ns = worker.leasing == 0 ? now : now + kAwaitLeaseNs;
  if (!pending->is_newest || has_news(worker, *pending, now))
    return answer(worker, pending, actions);
  worker.parked = pending;
  parked_until_.emplace(pending->until_ns, pending->worker);
  changed();
}

bool Desk::has_news(const Worker& worker, const Pending& pending, std::uint64_t now) const {
  if (now >= pending.until_ns || worker.session.empty()) return true;
  if (pending.has_reports && worker.leasing == 0) return true;
  if (now >= worker.deliver_not_before_ns &&
      !worker.deliveries.missing(now, sent_for_ns(), 1).empty())
    return true;
  const auto is_new_stop = [&](const auto& each) {
    return !worker.told_to_stop.contains(each.first);
  };
  if (std::ranges::any_of(worker.deliveries.stopping(), is_new_stop)) return true;
  const auto is_new_drop = [&](const std::string& d) { return !worker.told_to_drop.contains(d); };
  if (std::ranges::any_of(worker.drops, is_new_drop)) return true;
  return worker.told_mode != mode_text(worker) || worker.told_swap != swap_of(worker);
}

void Desk::look_at_parked(Worker& worker, std::uint64_t now, Actions& actions) {
  const PendingPtr pending = worker.parked;
  if (!pending || !has_news(worker, *pending, now)) return;
  unpark(worker);
  answer(worker, pending, actions);
}

void Desk::unpark(Worker& worker) {
  if (!worker.parked) return;
  parked_until_.erase({worker.parked->until_ns, worker.info.worker});
  worker.parked.reset();
  // Nobody would carry the work to it.
  dispatcher_.set_want(worker.info.worker, 0);
}

// Otherwise the next request would be answered at once, without the work, over and over.
void Desk::delay_delivery(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto at = workers_.find(id);
  if (at == workers_.end()) return;
  delayed_.erase({at->second.deliver_not_before_ns, id});
  at->second.deliver_not_before_ns = now_ns() + kDeliverAgainNs;
  delayed_.emplace(at->second.deliver_not_before_ns, id);
}

void Desk::answer(Worker& worker, const PendingPtr& pending, Actions& actions) {
  SyncAnswer& out = pending->answer;
  out.mode = mode_text(worker);
  if (worker.session.empty()) out.refused = Refused::kSession;
  std::vector<dispatch::Dispatch> missing;
  if (pending->is_newest && out.refused == Refused::kNo) {
    dispatcher_.set_want(pending->worker, 0);
    worker.told_mode = out.mode;
    worker.told_swap = out.swap = swap_of(worker);
    for (const auto& [dispatch, reason] : worker.deliveries.stopping()) {
      if (out.stop.size() == kMaxBatch) break;
      out.stop.push_back({dispatch.to_text(), reason, options_.stop_grace_ms});
      worker.told_to_stop.insert(dispatch);
    }
    std::erase_if(worker.told_to_drop,
                  [&](const std::string& d) { return !worker.drops.contains(d); });
    for (const std::string& d : worker.drops) {
      out.drop.push_back(d);
      worker.told_to_drop.insert(d);
    }
    const std::uint64_t now = now_ns();
    if (now >= worker.deliver_not_before_ns)
      missing = worker.deliveries.missing(now, sent_for_ns(), kMaxBatch);
    for (const dispatch::Dispatch& each : missing)
      if (!worker.sent.insert(each).second) ++totals_.redelivered;
  }
  if (missing.empty() || engine_ == nullptr) {
    actions.push_back([pending] { pending->then(std::move(pending->answer)); });
    return;
  }
  const auto delivery = std::make_shared<Delivery>(
      recorder_, options_.render, pending->worker, std::move(missing),
      [self = shared_from_this(), pending](std::vector<WorkItem> work, bool is_complete) {
        if (!is_complete) self->delay_delivery(pending->worker);
        pending->answer.work = std::move(work);
        pending->then(std::move(pending->answer));
      });
  actions.push_back([delivery] { delivery->begin(); });
}

}  // namespace holdfast::workers
