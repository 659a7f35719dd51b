// SPDX-License-Identifier: Apache-2.0
#include "engine/durable_watch.h"

#include <algorithm>
#include <utility>

namespace holdfast::engine {

bool DurableWatch::add(std::uint64_t number, store::RecordNumber record,
                       std::shared_ptr<Ticket<std::uint64_t>> ticket) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || waiters_.size() >= kMost) return false;
  waiters_.emplace(number, Waiter{record, std::move(ticket)});
  wanted_ = std::min(wanted_.load(), record);
  return true;
}

// What is let go of may call back, so it goes without the mutex.
void DurableWatch::remove(std::uint64_t number) {
  Waiter gone{};
  const std::lock_guard lock(mutex_);
  const auto found = waiters_.find(number);
  if (found == waiters_.end()) return;
  gone = std::move(found->second);
  waiters_.erase(found);
  update_wanted();
}

void DurableWatch::tell(store::RecordNumber record) {
  std::vector<std::shared_ptr<Ticket<std::uint64_t>>> due;
  {
    const std::lock_guard lock(mutex_);
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      if (waiter->second.record > record) {
        ++waiter;
        continue;
      }
      due.push_back(std::move(waiter->second.ticket));
      waiter = waiters_.erase(waiter);
    }
    update_wanted();
  }
  for (const auto& ticket : due) ticket->tell(record);
}

void DurableWatch::update_wanted() {
  store::RecordNumber wanted = kNobody;
  for (const auto& [number, waiter] : waiters_) wanted = std::min(wanted, waiter.record);
  wanted_ = wanted;
}

void DurableWatch::close() {
  std::map<std::uint64_t, Waiter> gone;
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  std::swap(gone, waiters_);
  wanted_ = kNobody;
}

}  // namespace holdfast::engine
