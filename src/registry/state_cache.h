// SPDX-License-Identifier: Apache-2.0
// StateCache: what was written last, with the values it was written from. Whoever finds the very
// same bytes in the file need not read them again, value by value; a file that anybody else has
// written since has others. For any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "registry/state.h"

namespace holdfast::registry {

class StateCache {
 public:
  // Nothing: these bytes are not those.
  std::optional<State> find(std::string_view bytes) const {
    const auto last = this->last();
    if (!last || last->bytes != bytes) return std::nullopt;
    return last->state;
  }

  // The state is what the bytes would be read as.
  void keep(std::string bytes, const State& state) {
    auto kept = bytes.size() <= kMostBytes
                    ? std::make_shared<const Written>(Written{std::move(bytes), state})
                    : nullptr;
    const std::lock_guard lock(mutex_);
    last_.swap(kept);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  struct Written {
    std::string bytes;
    State state;
  };

  std::shared_ptr<const Written> last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Written> last_;
};

}  // namespace holdfast::registry
