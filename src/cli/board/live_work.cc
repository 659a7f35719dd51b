// SPDX-License-Identifier: Apache-2.0
#include "cli/board/live_work.h"

#include <chrono>
#include <utility>

namespace holdfast::cli {

LiveWork::LiveWork(Engine& engine, std::function<Result<Done>(Engine&, std::uint64_t)> begin_one,
                   unsigned per_second)
    : engine_(engine),
      begin_one_(std::move(begin_one)),
      per_second_(per_second),
      thread_([this] { run(); }) {}

LiveWork::~LiveWork() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

// Pieces are numbered by the clock, so that another life of the program goes on behind the last.
void LiveWork::run() {
  using namespace std::chrono;
  const auto pace = milliseconds(1000 / per_second_);
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, pace, [this] { return is_stopping_; })) {
    lock.unlock();
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    // Refused where the engine is full: the next piece may fit.
    static_cast<void>(begin_one_(engine_, static_cast<std::uint64_t>(now / pace)));
    lock.lock();
  }
}

Handler LiveWork::slowed(Handler handler) {
  using namespace std::chrono_literals;
  handler.run = [run = std::move(handler.run)](Reader params, const Call& call, Writer& receipt) {
    const auto takes = 100ms + std::chrono::milliseconds(std::hash<std::string>()(call.key) % 900);
    for (auto left = takes; left > 0ms && !call.stopped(); left -= 20ms)
      std::this_thread::sleep_for(20ms);
    return run(params, call, receipt);
  };
  return handler;
}

}  // namespace holdfast::cli
