// SPDX-License-Identifier: Apache-2.0
// Watchers: those who wait until an instance has ended, or has put something out. They belong to
// whoever reduces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/kept_hash.h"
#include "kernel/world.h"

namespace holdfast::node {

// Looks at the world, between ticks. What it gives back is called when everything that it saw is
// durable; it may give nothing.
using Question = std::function<std::function<void()>(kernel::World&)>;

class Watchers {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  // `question` is to be asked when the instance is taken, once. The number, which must be new,
  // takes it away again. False: there are too many already.
  bool add(std::uint64_t number, const kernel::InstanceName& instance, Question question);
  void remove(std::uint64_t number);

  bool empty() const noexcept { return names_.empty(); }

  // Adds the questions of those who wait for this instance: it has happened.
  void take(const kernel::TouchedName& instance, std::vector<Question>& questions);

 private:
  // Only looked into.
  using OfInstance = std::map<std::uint64_t, Question>;  // in the order of their numbers
  std::unordered_map<std::string, OfInstance, base::KeptHash<base::HashOfText>> watchers_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace holdfast::node
