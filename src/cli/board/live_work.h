// SPDX-License-Identifier: Apache-2.0
// LiveWork: a stream of work for `holdfast dev`, so that there is something to watch. Its effects
// take a while, as they do in earnest.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "holdfast/main.h"

namespace holdfast::cli {

class LiveWork {
 public:
  // Begins so many pieces a second until this is destroyed, which must be before the engine is.
  LiveWork(Engine& engine, std::function<Result<Done>(Engine&, std::uint64_t)> begin_one,
           unsigned per_second);
  ~LiveWork();
  LiveWork(const LiveWork&) = delete;
  LiveWork& operator=(const LiveWork&) = delete;

  // The same handler, but it takes between a tenth of a second and one second.
  static Handler slowed(Handler handler);

 private:
  void run();

  Engine& engine_;
  const std::function<Result<Done>(Engine&, std::uint64_t)> begin_one_;
  const unsigned per_second_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace holdfast::cli
