// SPDX-License-Identifier: Apache-2.0
// Wake: work that other threads leave for the one that serves connections. That thread is woken
// once for whatever has gathered by the time it comes, which is most of the answers of a batch.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::gateway {

class Wake {
 public:
  using Job = std::function<void()>;

  // `wake` makes the serving thread call `run_all` soon. From any thread.
  explicit Wake(std::function<void()> wake) : wake_(std::move(wake)) {}

  // From any thread. After `close` the job is let go of.
  void post(Job job) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    jobs_.push_back(std::move(job));
    if (jobs_.size() == 1) wake_();
  }

  // The serving thread's.
  void run_all() {
    {
      const std::lock_guard lock(mutex_);
      std::swap(jobs_, running_);
    }
    for (Job& job : running_) {
      job();
      job = nullptr;  // what it holds may be large, and the next one may take long
    }
    running_.clear();
  }

  // Nobody is woken any more.
  void close() {
    std::vector<Job> left;
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    std::swap(left, jobs_);
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<Job> jobs_;
  std::vector<Job> running_;  // the serving thread's own
  bool is_closed_ = false;
};

}  // namespace holdfast::gateway
