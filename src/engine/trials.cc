// SPDX-License-Identifier: Apache-2.0
#include "engine/trials.h"

#include <utility>

#include "env/quiet_thread.h"
#include "env/thread_priority.h"

namespace holdfast::engine {

Trials::~Trials() {
  cancel();
  wait_for_end();
}

bool Trials::begin(Job job) {
  const std::lock_guard lock(mutex_);
  if (is_cancelled_ || is_busy_) return false;
  is_busy_ = true;
  job_ = std::move(job);
  if (!thread_.joinable()) {
    thread_ = env::quiet_thread([this] {
      env::lower_priority_of_this_thread();
      run();
    });
  }
  changed_.notify_one();
  return true;
}

void Trials::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  changed_.notify_one();
}

void Trials::wait_for_end() {
  if (thread_.joinable()) thread_.join();
  job_ = nullptr;
}

void Trials::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_cancelled_ || job_; });
    if (is_cancelled_) return;
    Job job = std::exchange(job_, nullptr);
    lock.unlock();
    const std::function<void()> tell = job();
    job = nullptr;  // what it holds is let go of before anybody hears that it has ended
    lock.lock();
    is_busy_ = false;
    lock.unlock();
    if (tell) tell();
  }
}

}  // namespace holdfast::engine
