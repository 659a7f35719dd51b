// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet_ledger.h"

#include <variant>

#include "codec/view.h"
#include "defs/system_names.h"
#include "dispatch/deliveries.h"
#include "kernel/lease_list.h"
#include "kernel/work.h"

namespace holdfast::sim {
namespace {

DispatchText text_of(std::uint64_t dispatch, const base::Hash& intent) {
  return dispatch::Dispatch{dispatch, intent}.to_text();
}

// How the record says that the intent ended; empty: it does not.
std::string_view settled_as(const kernel::RecordView& record, const base::Hash& intent) {
  for (const kernel::InstanceView& instance : record.instances)
    for (const kernel::SettledView& settled : instance.settled)
      if (settled.intent == intent) return settled.status;
  return "";
}

}  // namespace

void FleetLedger::durable(base::ByteView bytes) {
  const auto record = kernel::read_record(bytes);
  if (!record) return violation("a record cannot be read: " + record.error().to_string());
  if (const auto* enrolled = std::get_if<kernel::WorkerEnrolled>(&record->tick.input)) {
    Worker& worker = workers_[std::string(enrolled->worker)];
    worker.place = {std::string(enrolled->node), std::string(enrolled->name)};
    worker.is_active = true;
  } else if (const auto* change = std::get_if<kernel::WorkerChanged>(&record->tick.input)) {
    changed(*change);
  } else if (const auto* lease = std::get_if<kernel::Leased>(&record->tick.input)) {
    leased(*record, *lease);
  } else if (const auto* back = std::get_if<kernel::Returned>(&record->tick.input)) {
    returned(*back);
  } else if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record->tick.input)) {
    received(*record, *receipt);
  }
  for (const kernel::InstanceView& instance : record->instances) {
    for (const kernel::OpenedView& opened : instance.opened) {
      if (opened.effect != defs::kTaskRun) continue;
      const std::string task(codec::View::of(instance.key).text().value_or(""));
      task_of_[opened.intent] = task;
      tasks_.try_emplace(task);
    }
  }
}

void FleetLedger::leased(const kernel::RecordView& record, const kernel::Leased& leased) {
  const auto items = kernel::read_lease_list(leased.items);
  const auto at = workers_.find(leased.worker);
  if (!items || at == workers_.end()) return violation("a lease of nobody");
  Worker& worker = at->second;
  if (!worker.is_active || cordons_.contains(worker.place))
    violation("a worker that may not work gets a lease");
  for (std::size_t i = 0; i < items->size(); ++i) {
    const base::Hash& intent = (*items)[i].intent;
    const std::uint64_t number = kernel::dispatch_number(record.number, i);
    const DispatchText text = text_of(number, intent);
    if (!task_of_.contains(intent)) violation("a lease of what was never opened");
    if (!held_.emplace(intent, text).second) violation("a task is leased while it is held");
    leases_[text] = {task_of_[intent], at->first, number, false, {}};
    report_.note("lease " + std::to_string(number) + ": " + task_of_[intent] + " goes to " +
                 worker.place.second);
    worker.holds.insert(intent);
  }
}

FleetLedger::Lease* FleetLedger::end(const base::Hash& intent, std::uint64_t dispatch,
                                     std::string_view worker) {
  const auto held = held_.find(intent);
  if (held == held_.end()) {
    violation("a lease ends that nobody holds");
    return nullptr;
  }
  Lease& lease = leases_.at(held->second);
  if (lease.dispatch != dispatch || (!worker.empty() && lease.worker != worker)) {
    violation("a lease is ended under another dispatch, or by another worker");
    return nullptr;
  }
  lease.has_ended = true;
  workers_.at(lease.worker).holds.erase(intent);
  held_.erase(held);
  return &lease;
}

void FleetLedger::lose(Lease& lease, bool by_its_own_word) {
  Task& task = tasks_[lease.task];
  ++task.charged;
  ++task.explained;  // it may still begin, out of an answer that was late
  report_.sometimes(lease.begun_by.empty() ? "a task is lost that was not begun"
                                           : "a task is lost while it runs");
  // A worker that is declared dead may be alive: it could not be heard.
  if (by_its_own_word && !lease.begun_by.empty() && !dead_.contains(lease.begun_by))
    violation("a worker loses what its living process runs");
  if (!by_its_own_word) return;
  const auto process = process_of_.find(workers_.at(lease.worker).place.second);
  if (process != process_of_.end() && in_session_.contains(process->second))
    violation("a worker loses something, and its process has not died");
}

void FleetLedger::returned(const kernel::Returned& returned) {
  const auto items = kernel::read_return_list(returned.items);
  if (!items) return violation("a return of nothing");
  for (const kernel::ReturnItem& item : *items) {
    Lease* const lease = end(item.intent, item.dispatch, returned.worker);
    if (lease == nullptr) continue;
    if (item.reason == kernel::ReturnReason::kLost) {
      lose(*lease, true);
      continue;
    }
    report_.sometimes("a task is given back for nothing");
    report_.note("lease " + std::to_string(lease->dispatch) +
                 " comes back: " + std::string(kernel::name_of(item.reason)));
    // Only a drain ends what has begun and gives it back.
    if (!lease->begun_by.empty() && item.reason != kernel::ReturnReason::kDrain &&
        item.reason != kernel::ReturnReason::kYield)
      violation("a task that runs is given back as if it did not");
    ++tasks_[lease->task].explained;
  }
}

void FleetLedger::changed(const kernel::WorkerChanged& changed) {
  const auto at = workers_.find(changed.worker);
  if (at == workers_.end()) return violation("a change of nobody");
  Worker& worker = at->second;
  switch (changed.change) {
    case kernel::WorkerChange::kActivate: worker.is_active = true; return;
    case kernel::WorkerChange::kDrain: worker.is_active = false; return;
    case kernel::WorkerChange::kCordon: cordons_.insert(worker.place); return;
    case kernel::WorkerChange::kUncordon: cordons_.erase(worker.place); return;
    case kernel::WorkerChange::kLose:
    case kernel::WorkerChange::kLeave: break;
  }
  worker.is_active = false;
  const bool is_lost = changed.change == kernel::WorkerChange::kLose;
  if (is_lost) report_.sometimes("a worker is declared lost");
  const std::set<base::Hash> holds = worker.holds;
  for (const base::Hash& intent : holds) {
    Lease& lease = leases_.at(held_.at(intent));
    end(intent, lease.dispatch, at->first);
    if (is_lost) lose(lease, false);
  }
}

void FleetLedger::received(const kernel::RecordView& record,
                           const kernel::ReceiptArrived& receipt) {
  const auto of = task_of_.find(receipt.intent);
  if (of == task_of_.end()) return;  // a condition
  Task& task = tasks_[of->second];
  const bool is_ok = receipt.status == kernel::ReceiptStatus::kOk;
  if (receipt.fence.dispatch == 0) {
    ++task.given_up;
    if (is_ok) violation("a result of nobody");
    return;
  }
  Lease* const lease = end(receipt.intent, receipt.fence.dispatch, receipt.fence.worker);
  if (lease == nullptr) return;
  // A task that was asked to stop ends cancelled, whatever its worker reports.
  if (settled_as(record, receipt.intent) == "cancelled") return;
  ++task.charged;
  if (is_ok) {
    if (++task.results != 1) violation("a task has two results");
    task.last_result = text_of(lease->dispatch, receipt.intent);
    if (lease->begun_by.empty()) violation("a result of what was never run");
  } else {
    ++task.explained;
  }
}

void FleetLedger::begun(std::string_view process, const DispatchText& dispatch) {
  const auto at = leases_.find(dispatch);
  if (at == leases_.end()) return violation("work is run before its lease is durable");
  if (!at->second.begun_by.empty()) return violation("a dispatch is run twice");
  at->second.begun_by = process;
  report_.note(std::string(process) + " runs lease " + std::to_string(at->second.dispatch));
  ++tasks_[at->second.task].runs;
  if (at->second.has_ended) report_.sometimes("work is run that does not count any more");
}

void FleetLedger::process_started(std::string_view name, std::string_view process) {
  process_of_[std::string(name)] = process;
}

void FleetLedger::process_died(std::string_view process) { dead_.emplace(process); }

bool FleetLedger::has_ended(const DispatchText& dispatch) const {
  const auto at = leases_.find(dispatch);
  return at != leases_.end() && at->second.has_ended;
}

void FleetLedger::acknowledged(const DispatchText& dispatch) {
  if (!has_ended(dispatch)) violation("a report is acknowledged before it is durable");
}

}  // namespace holdfast::sim
