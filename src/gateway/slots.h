// SPDX-License-Identifier: Apache-2.0
// Slots: how many results of one thread may wait for another. Whoever makes them waits for a slot
// first, so that it does not run ahead of whoever takes them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::gateway {

class Slots {
 public:
  explicit Slots(std::size_t count) : free_(count) {}

  void take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return free_ != 0; });
    --free_;
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
};

// One of them, given back with the last who has it.
class Slot {
 public:
  explicit Slot(std::shared_ptr<Slots> slots) : slots_(std::move(slots)) {}
  ~Slot() {
    if (is_taken_) slots_->give_back();
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  void take() {
    slots_->take();
    is_taken_ = true;
  }

 private:
  std::shared_ptr<Slots> slots_;
  bool is_taken_ = false;
};

}  // namespace holdfast::gateway
