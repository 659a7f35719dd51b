// SPDX-License-Identifier: Apache-2.0
// ProgressRetries: offers frames again that the node had no room for, while their functions say
// nothing. One thread for all functions of an executor, from the first refusal on; it sleeps until
// a frame is due. From any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace holdfast::executors {

class LiveProgress;

class ProgressRetries {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ProgressRetries() = default;
  ~ProgressRetries() { end(); }
  ProgressRetries(const ProgressRetries&) = delete;
  ProgressRetries& operator=(const ProgressRetries&) = delete;

  // LiveProgress::try_again is called once, not before `due`; not at all after `end`.
  void add(Time due, std::weak_ptr<LiveProgress> progress);
  void end();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Time, std::weak_ptr<LiveProgress>> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace holdfast::executors
