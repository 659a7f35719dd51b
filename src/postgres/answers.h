// SPDX-License-Identifier: Apache-2.0
// Answers: waits until the engine has answered a number of calls. Each is answered once, also when
// the engine ends, so the wait ends.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "holdfast/engine.h"

namespace holdfast::postgres {

template <class T>
class Answers {
 public:
  // Where the answer to the next call goes.
  Engine::Then<T> next() {
    std::size_t place = 0;
    {
      const std::lock_guard lock(state_->mutex);
      place = state_->told.size();
      state_->told.emplace_back();
      ++state_->missing;
    }
    return [state = state_, place](Result<T> told) {
      const std::lock_guard lock(state->mutex);
      state->told[place].emplace(std::move(told));
      if (--state->missing == 0) state->complete.notify_one();
    };
  }

  // In the order of the calls.
  std::vector<Result<T>> wait() {
    std::unique_lock lock(state_->mutex);
    state_->complete.wait(lock, [&] { return state_->missing == 0; });
    std::vector<Result<T>> all;
    all.reserve(state_->told.size());
    for (auto& told : state_->told) all.push_back(std::move(*told));
    return all;
  }

 private:
  // Shared: whoever answers may still be busy with it when the answers are read.
  struct State {
    std::mutex mutex;
    std::condition_variable complete;
    std::vector<std::optional<Result<T>>> told;
    std::size_t missing = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace holdfast::postgres
