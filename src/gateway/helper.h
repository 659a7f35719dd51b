// SPDX-License-Identifier: Apache-2.0
// Helper: one thread for what reads files, so that the thread that serves connections never waits
// for a disk. Jobs wait in a line of bounded length.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::gateway {

class Helper {
 public:
  explicit Helper(std::size_t most);
  ~Helper() { stop(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // False: too many wait already.
  [[nodiscard]] bool post(std::function<void()> job);

  std::size_t waiting() const;

  // Ends when the job that it is at has ended; those that wait are let go of.
  void stop();

 private:
  void run();

  std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace holdfast::gateway
