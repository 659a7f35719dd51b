// SPDX-License-Identifier: Apache-2.0
// Trials: the thread on which proposals are tried, one at a time, which yields to all others. It is
// there from the first trial on, and costs nothing while there is none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::engine {

class Trials {
 public:
  Trials() = default;
  ~Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // Tries, and gives what is to be called when the next one may begin.
  using Job = std::function<std::function<void()>()>;

  // False, and nothing is done: one is under way, or none begins any more.
  [[nodiscard]] bool begin(Job job);

  // From any thread.
  bool is_cancelled() const noexcept { return is_cancelled_; }

  // None begins any more, and the one that is under way should end.
  void cancel();

  // Until it has. A job that has not begun by then never will.
  void wait_for_end();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  Job job_;
  bool is_busy_ = false;
  std::atomic<bool> is_cancelled_ = false;  // changed under the mutex
  std::thread thread_;
};

}  // namespace holdfast::engine
