// SPDX-License-Identifier: Apache-2.0
#include "engine/durable_watch.h"

#include <utility>

namespace holdfast::engine {

bool DurableWatch::add(std::uint64_t number, store::RecordNumber record,
                       std::shared_ptr<Ticket<std::uint64_t>> ticket) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || waiters_.size() >= kMost) return false;
  if (waiters_.try_emplace(number, Waiter{record, std::move(ticket)}).second)
    by_record_.emplace(record, number);
  wanted_ = by_record_.begin()->first;
  return true;
}

DurableWatch::Waiter DurableWatch::take(Waiters::iterator waiter) {
  by_record_.erase({waiter->second.record, waiter->first});
  Waiter taken = std::move(waiter->second);
  waiters_.erase(waiter);
  wanted_ = by_record_.empty() ? kNobody : by_record_.begin()->first;
  return taken;
}

// What is let go of may call back, so it goes without the mutex.
void DurableWatch::remove(std::uint64_t number) {
  Waiter gone{};
  const std::lock_guard lock(mutex_);
  const auto found = waiters_.find(number);
  if (found != waiters_.end()) gone = take(found);
}

void DurableWatch::tell(store::RecordNumber record) {
  std::vector<std::shared_ptr<Ticket<std::uint64_t>>> due;
  {
    const std::lock_guard lock(mutex_);
    while (!by_record_.empty() && by_record_.begin()->first <= record)
      due.push_back(take(waiters_.find(by_record_.begin()->second)).ticket);
  }
  for (const auto& ticket : due) ticket->tell(record);
}

void DurableWatch::close() {
  Waiters gone;
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  std::swap(gone, waiters_);
  by_record_.clear();
  wanted_ = kNobody;
}

}  // namespace holdfast::engine
