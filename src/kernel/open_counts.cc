// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_counts.h"

namespace holdfast::kernel {
namespace {

constexpr unsigned kSecondBits = 30;  // 1.07 s

}  // namespace

void OpenCounts::add(std::uint32_t effect, std::uint64_t opened_ns) {
  if (effect >= effects_.size()) effects_.resize(std::size_t{effect} + 1);
  OfEffect& counts = effects_[effect];
  ++counts.open;
  // Almost always the last one there is, or a new one behind it.
  ++counts.by_second.try_emplace(counts.by_second.end(), opened_ns >> kSecondBits, 0)->second;
}

void OpenCounts::remove(std::uint32_t effect, std::uint64_t opened_ns) {
  if (effect >= effects_.size()) return;
  OfEffect& counts = effects_[effect];
  const auto found = counts.by_second.find(opened_ns >> kSecondBits);
  if (found == counts.by_second.end()) return;
  --counts.open;
  if (--found->second == 0) counts.by_second.erase(found);
}

std::uint64_t OpenCounts::open(std::uint32_t effect) const noexcept {
  return effect < effects_.size() ? effects_[effect].open : 0;
}

std::optional<std::uint64_t> OpenCounts::oldest_ns(std::uint32_t effect) const {
  if (open(effect) == 0) return std::nullopt;
  return effects_[effect].by_second.begin()->first << kSecondBits;
}

}  // namespace holdfast::kernel
