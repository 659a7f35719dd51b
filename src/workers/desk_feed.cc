// SPDX-License-Identifier: Apache-2.0
// What the desk hears of the engine, in the order of the records. The engine waits meanwhile, so
// nothing here calls it.
#include <algorithm>
#include <utility>

#include "workers/desk.h"

namespace holdfast::workers {
namespace {

// Workers that gave a task back without trying it are passed over for it; so many are remembered.
constexpr std::size_t kMostRefusals = 16;

// Workers that are gone are forgotten beyond what the world keeps.
constexpr std::size_t kMostKnown = kMaxWorkers + 1024;

dispatch::Mode mode_of(const WorkerInfo& info) {
  switch (info.mode) {
    case WorkerMode::kActive:
      return info.is_cordoned ? dispatch::Mode::kCordoned : dispatch::Mode::kActive;
    case WorkerMode::kDraining: return dispatch::Mode::kDraining;
    case WorkerMode::kLost: return dispatch::Mode::kLost;
    case WorkerMode::kLeft: break;
  }
  return dispatch::Mode::kLeft;
}

bool is_gone(const WorkerInfo& info) {
  return info.mode == WorkerMode::kLost || info.mode == WorkerMode::kLeft;
}

}  // namespace

void Desk::worker_changed(const WorkerInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = workers_.try_emplace(info.worker);
  Worker& worker = at->second;
  const bool has_other_name =
      is_new || worker.info.node != info.node || worker.info.name != info.name;
  if (has_other_name) {
    if (!is_new) {
      const auto named = by_name_.find({worker.info.node, worker.info.name});
      named->second.erase(info.worker);
      if (named->second.empty()) by_name_.erase(named);
    }
    by_name_[{info.node, info.name}].insert(info.worker);
  }
  if (has_other_name || worker.info.description != info.description) {
    auto offer = dispatch::read_offer(codec::View::of(info.description));
    if (!offer) {
      log("worker " + info.worker + " cannot be read: " + offer.error().to_string());
      offer = dispatch::Offer();  // nothing fits it
    }
    dispatcher_.put_worker(info.worker, info.node, info.name, std::move(*offer), mode_of(info));
  }
  dispatcher_.set_mode(info.worker, mode_of(info));
  worker.info = info;
  if (is_gone(info)) {
    watchdog_.forget(info.worker);
    dispatcher_.set_live(info.worker, false);
    dispatcher_.set_want(info.worker, 0);
    worker.session.clear();  // a parked request hears of it in the next turn
  }
  touched_.insert(info.worker);
  if (is_new && workers_.size() > kMostKnown) {
    const auto gone = std::ranges::find_if(workers_, [&](const auto& each) {
      return is_gone(each.second.info) && each.second.deliveries.size() == 0 &&
             each.second.session.empty() && each.first != info.worker;
    });
    if (gone != workers_.end()) {
      by_name_[{gone->second.info.node, gone->second.info.name}].erase(gone->first);
      touched_.erase(gone->first);
      workers_.erase(gone);
    }
  }
  changed();
}

// False: it is no task.
bool Desk::put_task(const WorkView& work) {
  if (work.effect != kTaskRun) return false;
  auto made = task_of(work);
  if (!made) {
    log("task " + to_text(work.intent) + " cannot be read: " + made.error().to_string());
    return false;
  }
  TaskState& state = tasks_[made->task.intent];
  state.attempt = made->attempt;
  state.losses = work.losses;
  state.max_attempts = made->max_attempts;
  state.may_run_again = made->may_run_again;
  state.time_limit_ns = made->time_limit_ns;
  state.log = std::move(made->log);
  for (const std::string& worker : state.refused_by) made->task.demand.avoided.push_back(worker);
  std::ranges::sort(made->task.demand.avoided);
  dispatcher_.add(std::move(made->task), now_ns());
  return true;
}

void Desk::opened(const WorkView& work) {
  const std::lock_guard lock(mutex_);
  if (!put_task(work)) return;
  if (work.lease) begin_lease(work);
  changed();
}

void Desk::leased(const WorkView& work) {
  const std::lock_guard lock(mutex_);
  begin_lease(work);
  changed();
}

void Desk::begin_lease(const WorkView& work) {
  if (!tasks_.contains({work.intent.bytes}) || !work.lease) return;
  const WorkLease& lease = *work.lease;
  dispatcher_.leased({work.intent.bytes}, lease.worker, devices_of(lease.detail), now_ns());
  const auto at = workers_.find(lease.worker);
  if (at == workers_.end()) return;
  const dispatch::Dispatch dispatch = dispatch_of(work.intent, lease.dispatch);
  at->second.deliveries.leased(dispatch, now_ns());
  if (lease.is_stopping) at->second.deliveries.stop(dispatch, "cancelled");
  touched_.insert(at->first);
}

void Desk::end_lease(std::string_view worker, const Hash& intent, std::uint64_t number) {
  const auto at = workers_.find(worker);
  if (at == workers_.end()) return;
  const dispatch::Dispatch dispatch = dispatch_of(intent, number);
  at->second.deliveries.ended(dispatch);
  at->second.sent.erase(dispatch);
  at->second.told_to_stop.erase(dispatch);
  touched_.insert(at->first);
}

void Desk::returned(const WorkView& work, std::string_view worker, std::uint64_t dispatch,
                    ReturnReason reason) {
  const std::lock_guard lock(mutex_);
  const auto at = tasks_.find({work.intent.bytes});
  if (at == tasks_.end()) return;
  end_lease(worker, work.intent, dispatch);
  at->second.losses = work.losses;
  if (reason == ReturnReason::kYield) ++totals_.yields;
  if (reason == ReturnReason::kRefused && at->second.refused_by.size() < kMostRefusals) {
    at->second.refused_by.emplace_back(worker);
    dispatcher_.remove(at->first, now_ns());
    put_task(work);
  } else {
    dispatcher_.put_back(at->first, work.queued_ns, now_ns());
  }
  changed();
}

void Desk::stop_asked(const WorkView& work) {
  const std::lock_guard lock(mutex_);
  if (!work.lease) return;
  const auto at = workers_.find(work.lease->worker);
  if (at == workers_.end()) return;
  at->second.deliveries.stop(dispatch_of(work.intent, work.lease->dispatch), "cancelled");
  touched_.insert(at->first);
  changed();
}

void Desk::ended(const WorkEnd& end) {
  const std::lock_guard lock(mutex_);
  const auto at = tasks_.find({end.intent.bytes});
  if (at == tasks_.end()) return;
  logs_.nudge(at->second.log);
  dispatcher_.remove(at->first, now_ns());
  tasks_.erase(at);
  if (!end.worker.empty()) {
    const auto worker = workers_.find(end.worker);
    // It goes on with what does not count any more, until it hears that.
    if (!end.by_worker && worker != workers_.end())
      worker->second.drops.insert(dispatch_of(end.intent, end.dispatch).to_text());
    end_lease(end.worker, end.intent, end.dispatch);
  }
  changed();
}

void Desk::recovered() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = now_ns();
  for (const auto& [id, worker] : workers_)
    if (!is_gone(worker.info)) watchdog_.expect(id, worker.deliveries.size() != 0, now);
  is_recovered_ = true;
  changed();
}

}  // namespace holdfast::workers
