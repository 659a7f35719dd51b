// SPDX-License-Identifier: Apache-2.0
// What all ticks about leases share: the fence, and how a lease ends.
#include <utility>

#include "kernel/effect_error.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::string_view kNotHeld = "a worker does not hold what is leased to it";

std::shared_ptr<WorkNews> news_of(WorldState& world, WorkNews::Kind kind, const base::Hash& hash,
                                  const Intent& intent) {
  auto news = std::make_shared<WorkNews>();
  news->kind = kind;
  if (kind == WorkNews::Kind::kEnded) {
    news->open.intent = hash;
    news->open.effect = {world.program, &world.program->effect(intent.effect())};
  } else {
    news->open = command_of(world, hash, intent);
    news->work = intent.work;
  }
  return news;
}

}  // namespace

bool is_present(const Intent& intent, const Fence& fence) {
  const Lease* const lease = intent.lease();
  if (lease == nullptr) return fence.dispatch == 0;
  return lease->dispatch == fence.dispatch &&
         (fence.worker.empty() || lease->worker == fence.worker);
}

Answer stale(WorldState& world) {
  ++world.counters.stale_reports;
  return Unchanged{{WorkVerdict{}}};
}

Answer answer_not_open(WorldState& world, const base::Hash& intent, const Fence& fence,
                       std::uint64_t& repeated) {
  const SettledIntent* const before = world.settled.find(intent);
  if (before != nullptr && (fence.dispatch == 0 || fence.dispatch == before->dispatch)) {
    ++repeated;
    return Repeated{before->record, before->status};
  }
  if (fence.dispatch != 0) return stale(world);
  return Refused{base::ErrorCode::kNotFound, "no open intent " + intent.to_text()};
}

void tell_of_worker(WorldState& world, const std::string& id, const Worker& worker) {
  auto news = std::make_shared<WorkNews>();
  news->kind = WorkNews::Kind::kWorker;
  news->worker = id;
  news->now = worker;
  news->is_cordoned = world.workers.is_cordoned(worker);
  world.draft.commands.emplace_back(std::shared_ptr<const WorkNews>(std::move(news)));
}

void end_lease(WorldState& world, const base::Hash& hash, const Intent& intent,
               ReceiptStatus status, SettledBy by) {
  const Lease* const lease = intent.lease();
  const bool tells =
      world.options.tells_of_work && world.program->effect(intent.effect()).by_workers;
  if (lease == nullptr && !tells) return;
  auto news = news_of(world, WorkNews::Kind::kEnded, hash, intent);
  news->status = status;
  news->by_worker = by == SettledBy::kItsWorker;
  if (lease != nullptr) {
    news->worker = lease->worker;
    news->dispatch = lease->dispatch;
    if (!world.workers.release(lease->worker, lease->dispatch))
      return contradiction(world, kNotHeld);
  }
  world.draft.commands.emplace_back(std::shared_ptr<const WorkNews>(std::move(news)));
}

std::optional<WorkVerdict> give_back(WorldState& world, const base::Hash& hash,
                                     const Intent& intent, ReturnReason reason,
                                     base::ByteView resume) {
  Cell* const cell = cell_of(world, intent);
  if (cell == nullptr) return std::nullopt;
  const Lease lease = *intent.lease();
  const bool is_lost = reason == ReturnReason::kLost;
  Work work = *intent.work;
  if (is_lost) {
    ++work.losses;
    if (work.lost_by.size() == kMaxLostByListed) work.lost_by.erase(work.lost_by.begin());
    work.lost_by.push_back(lease.worker);
  }
  touch(world, *cell);
  // The lease is still in it, so that the instance hears who held it.
  if (lease.is_stopping || (is_lost && lease.fails_if_lost)) {
    world.intents.set_work(hash, std::make_shared<const Work>(std::move(work)));
    const ReceiptStatus status =
        lease.is_stopping ? ReceiptStatus::kCancelled : ReceiptStatus::kError;
    codec::Buffer error;
    if (lease.is_stopping) {
      write_effect_error(error, kStopped, "it was asked to stop, and its worker holds it no more");
    } else {
      write_effect_error(error, kWorkerLost, "its worker '" + lease.worker + "' was lost");
    }
    world.draft.output_bytes += error.size();
    auto letter = receipt_letter(world, *cell, hash, intent, status, error.view());
    settle(world, *cell, hash, status);
    if (letter) deliver(world, *cell, std::move(letter));
    return WorkVerdict{WorkVerdict::Kind::kSettled, lease.dispatch};
  }
  if (!world.workers.release(lease.worker, lease.dispatch)) {
    contradiction(world, kNotHeld);
    return std::nullopt;
  }
  work.lease.reset();
  work.queued_ns = world.tick->time_ns;
  if (reason == ReturnReason::kYield) work.resume.assign(resume.begin(), resume.end());
  world.intents.set_work(hash, std::make_shared<const Work>(std::move(work)));
  auto news = news_of(world, WorkNews::Kind::kReturned, hash, intent);
  news->worker = lease.worker;
  news->dispatch = lease.dispatch;
  news->reason = reason;
  world.draft.commands.emplace_back(std::shared_ptr<const WorkNews>(std::move(news)));
  return WorkVerdict{WorkVerdict::Kind::kReturned, lease.dispatch};
}

bool ask_worker_to_stop(WorldState& world, const base::Hash& hash, const Intent& intent) {
  if (intent.lease()->is_stopping) return false;
  Work work = *intent.work;
  work.lease->is_stopping = true;
  world.intents.set_work(hash, std::make_shared<const Work>(std::move(work)));
  world.draft.commands.emplace_back(
      std::shared_ptr<const WorkNews>(news_of(world, WorkNews::Kind::kStopAsked, hash, intent)));
  return true;
}

}  // namespace holdfast::kernel
