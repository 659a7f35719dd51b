// SPDX-License-Identifier: Apache-2.0
#include "gateway/helper.h"

#include <utility>

#include "env/quiet_thread.h"
#include "env/thread_priority.h"

namespace holdfast::gateway {

Helper::Helper(std::size_t most, Pace pace)
    : most_(most), thread_(env::quiet_thread([this, pace] {
        if (pace == Pace::kYields) env::lower_priority_of_this_thread();
        run();
      })) {}

bool Helper::post(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stops_ || jobs_.size() >= most_) return false;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void Helper::post_first(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stops_) return;
  jobs_.push_front(std::move(job));
  changed_.notify_one();
}

std::size_t Helper::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void Helper::stop() {
  std::deque<std::function<void()>> left;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    std::swap(left, jobs_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Helper::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
  }
}

}  // namespace holdfast::gateway
