// SPDX-License-Identifier: Apache-2.0
// Helper: one thread for what reads files, so that the thread that serves connections never waits
// for a disk. Jobs wait in a line of bounded length.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::gateway {

class Helper {
 public:
  enum class Pace : unsigned char {
    kUsual,
    kYields,  // to all other threads
  };
  explicit Helper(std::size_t most, Pace pace = Pace::kUsual);
  ~Helper() { stop(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // False: too many wait already.
  [[nodiscard]] bool post(std::function<void()> job);

  // Before all others, however many wait: for whoever has one such job at a time.
  void post_first(std::function<void()> job);

  std::size_t waiting() const;

  // For a job that takes long: nobody waits for it any more.
  bool is_stopping() const noexcept { return stops_; }

  // Ends when the job that it is at has ended; those that wait are let go of.
  void stop();

 private:
  void run();

  std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::atomic<bool> stops_ = false;  // changed under the mutex
  std::thread thread_;
};

}  // namespace holdfast::gateway
