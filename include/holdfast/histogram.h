// SPDX-License-Identifier: Apache-2.0
// Histogram: how often something was how large, in steps that are set once. It takes no memory but
// its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast {

class Histogram {
 public:
  static constexpr std::size_t kMostBounds = 16;

  // In growing order, at most kMostBounds of them, which must outlive it. What is as large as a
  // bound counts below it.
  explicit constexpr Histogram(std::span<const std::uint64_t> bounds) noexcept : bounds_(bounds) {}

  void add(std::uint64_t value) noexcept {
    std::size_t i = 0;
    while (i < bounds_.size() && i < kMostBounds && value > bounds_[i]) ++i;
    ++counts_[i];
    sum_ += value;
  }

  std::span<const std::uint64_t> bounds() const noexcept { return bounds_; }
  std::uint64_t count(std::size_t step) const noexcept { return counts_[step]; }  // also the last
  std::uint64_t sum() const noexcept { return sum_; }
  std::uint64_t total() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    return all;
  }

 private:
  std::span<const std::uint64_t> bounds_;
  std::array<std::uint64_t, kMostBounds + 1> counts_{};
  std::uint64_t sum_ = 0;
};

// Of times, in ns: from 50 us to 10 s.
inline constexpr std::array<std::uint64_t, 16> kTimeBounds{
    50'000,      100'000,       200'000,       500'000,       1'000'000,   2'000'000,
    5'000'000,   10'000'000,    20'000'000,    50'000'000,    100'000'000, 200'000'000,
    500'000'000, 1'000'000'000, 5'000'000'000, 10'000'000'000};

// Of numbers of things that are done together.
inline constexpr std::array<std::uint64_t, 13> kCountBounds{1,   2,   4,   8,    16,   32,  64,
                                                            128, 256, 512, 1024, 2048, 4096};

}  // namespace holdfast
