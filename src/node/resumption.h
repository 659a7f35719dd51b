// SPDX-License-Identifier: Apache-2.0
// Resumption: what was open when the world was opened is started again, each once, and as fast as
// executors have room for it: an executor that is busy is no reason to fail what it has not looked
// at. What finds no room waits here by its name alone, and not more of it than a bound: the rest is
// looked for in the world again when these are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "kernel/world.h"

namespace holdfast::node {

class Resumption {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 16;

  // The world must outlive it.
  explicit Resumption(kernel::World& world, std::size_t most_waiting = kMostWaiting)
      : world_(world), opened_before_(world.next_record()), most_waiting_(most_waiting) {}

  // Between ticks. False: there is no room for it now.
  using TryStart = std::function<bool(const kernel::OpenIntent&)>;
  base::Result<void> go_on(const TryStart& try_start);

  bool is_done() const noexcept { return waiting_.empty() && !is_more_; }

 private:
  using Line = std::deque<base::Hash>;
  base::Result<void> start_some(Line& line, const TryStart& try_start);
  base::Result<void> look(const TryStart& try_start);

  kernel::World& world_;
  const std::uint64_t opened_before_;  // this record; what came later was started when it came
  const std::size_t most_waiting_;
  std::map<std::string, Line> waiting_;  // by kind of executor; none of them is empty
  std::size_t count_ = 0;
  std::optional<base::Hash> after_;  // the last that was started or waits
  bool is_more_ = true;
  bool has_counted_ = false;  // the first time, and with it every open intent that there is
};

}  // namespace holdfast::node
