// SPDX-License-Identifier: Apache-2.0
// Lanes: workflows that run one after the other, several at a time, for a while.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cli/bench_course.h"
#include "cli/bench_workflows.h"
#include "holdfast/engine.h"

namespace holdfast::cli {

// A lane runs one workflow after the other. What the engine tells comes on one thread of its own.
template <class Workflow>
class Lanes {
 public:
  // The keys of its workflows begin with `first`, of which there is one in 2^32 for a lane.
  Lanes(Engine& engine, std::uint64_t lanes, std::uint64_t first = 0)
      : engine_(engine), first_(first), running_(lanes) {}

  // Until the time is over, or `most` workflows have begun; 0: however many.
  std::optional<Error> run(std::chrono::steady_clock::duration how_long, std::uint64_t most = 0) {
    begun_ = std::chrono::steady_clock::now();
    end_ = begun_ + how_long;
    may_begin_ = most == 0 ? ~std::uint64_t{0} : most - std::min<std::uint64_t>(most, running_);
    const std::uint64_t lanes = running_;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) begin(first_ + lane * kPerLane);
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return running_ == 0; });
    return error_;
  }

  const std::vector<Finished>& finished() const { return finished_; }

 private:
  static constexpr std::uint64_t kPerLane = std::uint64_t{1} << 32;

  void begin(std::uint64_t id) {
    const auto begun = std::chrono::steady_clock::now();
    engine_.start<Workflow>(id, BenchBegin{id}, {}, [this, id, begun](Result<Sent> sent) {
      if (sent) return wait(id, begun);
      fail(sent.error());
      leave();
    });
  }

  void wait(std::uint64_t id, std::chrono::steady_clock::time_point begun) {
    engine_.wait<Workflow>(id, [this, id, begun](Result<Instance<Workflow>> ended) {
      went(id, begun, std::move(ended));
    });
  }

  void went(std::uint64_t id, std::chrono::steady_clock::time_point begun,
            Result<Instance<Workflow>> ended) {
    if (!ended || ended->status != InstanceStatus::kCompleted) {
      fail(ended ? Error{ErrorCode::kConflict, "a workflow failed"} : ended.error());
      return leave();
    }
    const auto now = std::chrono::steady_clock::now();
    finished_.push_back({std::chrono::duration<double>(now - begun_).count(),
                         std::chrono::duration<double, std::micro>(now - begun).count()});
    if (now >= end_ || may_begin_ == 0) return leave();
    --may_begin_;
    begin(id + 1);
  }

  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --running_;
    all_ended_.notify_one();
  }

  Engine& engine_;
  const std::uint64_t first_;
  std::chrono::steady_clock::time_point end_;
  std::chrono::steady_clock::time_point begun_;
  std::uint64_t may_begin_ = 0;
  std::vector<Finished> finished_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::uint64_t running_;
  std::optional<Error> error_;
};

}  // namespace holdfast::cli
