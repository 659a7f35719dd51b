// SPDX-License-Identifier: Apache-2.0
// Watchers: those who wait until an instance has ended. They belong to whoever reduces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "kernel/world.h"

namespace holdfast::node {

// Looks at the world, between ticks. What it gives back is called when everything that it saw is
// durable; it may give nothing.
using Question = std::function<std::function<void()>(kernel::World&)>;

class Watchers {
 public:
  // `question` is asked when the instance has ended, once. The number takes it away again.
  std::uint64_t add(std::string_view workflow, base::ByteView key, Question question);
  void remove(std::uint64_t number);

  bool empty() const noexcept { return watchers_.empty(); }

  // The questions of those whose instance ends with this record.
  std::vector<Question> ended_by(base::ByteView record);

 private:
  using Name = std::pair<std::string, base::Bytes>;
  struct Watcher {
    std::uint64_t number;
    Question question;
  };
  std::multimap<Name, Watcher> watchers_;
  std::map<std::uint64_t, Name> names_;
  std::uint64_t next_ = 1;
};

}  // namespace holdfast::node
