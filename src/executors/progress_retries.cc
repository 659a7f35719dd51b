// SPDX-License-Identifier: Apache-2.0
#include "executors/progress_retries.h"

#include <utility>

#include "env/quiet_thread.h"
#include "executors/live_progress.h"

namespace holdfast::executors {

void ProgressRetries::add(Time due, std::weak_ptr<LiveProgress> progress) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  const auto added = waiting_.emplace(due, std::move(progress));
  if (!thread_.joinable()) {
    thread_ = env::quiet_thread([this] { run(); });
  } else if (added == waiting_.begin()) {
    changed_.notify_one();
  }
}

void ProgressRetries::end() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting_.clear();
    changed_.notify_one();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

// Without the mutex while it offers: what is refused again is added again.
void ProgressRetries::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto next = waiting_.begin();
    if (next->first > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, Time(next->first));
      continue;
    }
    const std::shared_ptr<LiveProgress> progress = next->second.lock();
    waiting_.erase(next);
    lock.unlock();
    if (progress != nullptr) progress->try_again();
    lock.lock();
  }
}

}  // namespace holdfast::executors
