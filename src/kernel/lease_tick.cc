// SPDX-License-Identifier: Apache-2.0
// Open effects are given to a worker, given back, or asked to stop. What of a list does not count
// is not in the record, so a replay finds that all of it does.
#include <utility>

#include "kernel/lease_list.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

Refused no_such_worker(std::string_view id) {
  return {base::ErrorCode::kNotFound, "there is no worker '" + shown(id) + "'"};
}

std::optional<Refused> check_holder(const WorldState& world, std::string_view id,
                                    std::size_t more) {
  const Worker* const worker = world.workers.find(id);
  if (worker == nullptr) return no_such_worker(id);
  if (world.replaying) return std::nullopt;
  if (worker->mode != WorkerMode::kActive)
    return Refused{base::ErrorCode::kConflict,
                   "worker '" + shown(id) + "' is " + std::string(name_of(worker->mode))};
  if (world.workers.is_cordoned(*worker))
    return Refused{base::ErrorCode::kConflict, "worker '" + shown(id) + "' is cordoned"};
  if (worker->leases.size() + more > kMaxLeasesPerWorker)
    return Refused{base::ErrorCode::kUnavailable, "worker '" + shown(id) + "' holds too much"};
  return std::nullopt;
}

bool can_be_leased(const WorldState& world, const EffectProgram& effect) {
  if (!effect.by_workers) return false;
  const auto* const here = world.options.performed_here;
  return world.replaying || here == nullptr || !here->contains(effect.name);
}

// Nothing: it may be leased now.
std::optional<WorkVerdict> why_not(WorldState& world, const Intent* intent) {
  if (intent == nullptr) return WorkVerdict{WorkVerdict::Kind::kNotOpen};
  if (!can_be_leased(world, world.program->effect(intent->effect())))
    return WorkVerdict{WorkVerdict::Kind::kNotLeased};
  if (const Lease* lease = intent->lease())
    return WorkVerdict{WorkVerdict::Kind::kHeld, lease->dispatch};
  return std::nullopt;
}

void lease(WorldState& world, std::string_view worker, const LeaseItem& item, const Intent& intent,
           std::uint64_t dispatch) {
  Work work = intent.work ? *intent.work : Work{.queued_ns = intent.opened_ns()};
  ++work.leases;
  work.lease =
      Lease{.worker = std::string(worker),
            .dispatch = dispatch,
            .leased_ns = world.tick->time_ns,
            .time_limit_ns = item.time_limit_ns ? item.time_limit_ns
                                                : world.program->effect(intent.effect()).timeout_ns,
            .fails_if_lost = item.fails_if_lost,
            .detail = {item.detail.begin(), item.detail.end()}};
  world.intents.set_work(item.intent, std::make_shared<const Work>(std::move(work)));
  world.intents.progressed(item.intent, 0);  // each dispatch counts from 1
  world.workers.hold(worker, dispatch, item.intent);
  auto news = std::make_shared<WorkNews>();
  news->kind = WorkNews::Kind::kLeased;
  news->open = command_of(world, item.intent, intent);
  news->work = intent.work;
  world.draft.commands.emplace_back(std::shared_ptr<const WorkNews>(std::move(news)));
}

}  // namespace

Answer reduce_leased(WorldState& world, const Leased& leased) {
  const auto items = read_lease_list(leased.items);
  if (!items)
    return Refused{base::ErrorCode::kInvalid,
                   "what is to be leased is no list of 1 to 256 effects"};
  if (auto refusal = check_holder(world, leased.worker, items->size())) return std::move(*refusal);
  std::vector<LeaseItem> granted;
  std::vector<WorkVerdict> verdicts;
  for (const LeaseItem& item : *items) {
    const Intent* const intent = world.intents.find(world.blobs, item.intent);
    if (auto objection = why_not(world, intent)) {
      verdicts.push_back(*objection);
      continue;
    }
    Cell* const cell = cell_of(world, *intent);
    if (cell == nullptr) return unreadable();
    const std::uint64_t dispatch = dispatch_number(world.next_record, granted.size());
    lease(world, leased.worker, item, *intent, dispatch);
    touch(world, *cell);
    granted.push_back(item);
    verdicts.push_back({WorkVerdict::Kind::kGranted, dispatch});
  }
  if (granted.empty()) return Unchanged{std::move(verdicts)};
  world.counted.clear();
  write_lease_list(world.counted, granted);
  return Accepted{.verdicts = std::move(verdicts)};
}

Answer reduce_returned(WorldState& world, const Returned& returned) {
  const auto items = read_return_list(returned.items);
  if (!items) {
    return Refused{base::ErrorCode::kInvalid,
                   "what is to be returned is no list of 1 to 256 effects"};
  }
  std::vector<ReturnItem> counted;
  std::vector<WorkVerdict> verdicts;
  for (const ReturnItem& item : *items) {
    const Intent* const intent = world.intents.find(world.blobs, item.intent);
    if (intent == nullptr || intent->lease() == nullptr ||
        !is_present(*intent, {returned.worker, item.dispatch})) {
      ++world.counters.stale_reports;
      verdicts.push_back({});
      continue;
    }
    const auto verdict = give_back(world, item.intent, *intent, item.reason, item.resume);
    if (!verdict) return unreadable();
    counted.push_back(item);
    verdicts.push_back(*verdict);
  }
  if (counted.empty()) return Unchanged{std::move(verdicts)};
  world.counted.clear();
  write_return_list(world.counted, counted);
  return Accepted{.verdicts = std::move(verdicts)};
}

Answer reduce_stop(WorldState& world, const StopAsked& asked) {
  if (!is_text(asked.reason, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the reason is too long, or not UTF-8"};
  if (const auto refused = check_by(asked.by)) return *refused;
  const Intent* const intent = world.intents.find(world.blobs, asked.intent);
  if (intent == nullptr)
    return answer_not_open(world, asked.intent, {}, world.counters.repeated_receipts);
  if (!can_be_leased(world, world.program->effect(intent->effect())))
    return Refused{base::ErrorCode::kConflict, "workers do not perform this effect"};
  Cell* const cell = cell_of(world, *intent);
  if (cell == nullptr) return unreadable();
  if (intent->lease() == nullptr) {
    cancel_effect(world, *cell, asked.intent, *intent, kStopped, kNobodyHeldIt);
    return Accepted{.settled = ReceiptStatus::kCancelled};
  }
  if (!ask_worker_to_stop(world, asked.intent, *intent)) return Unchanged{};
  touch(world, *cell);
  return Accepted{};
}

}  // namespace holdfast::kernel
