// SPDX-License-Identifier: Apache-2.0
// Random: bytes that nobody can guess, or, for a simulation, bytes that follow from a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace holdfast::env {

class Random {
 public:
  virtual ~Random() = default;

  virtual void fill(std::span<std::uint8_t> into) = 0;

  std::uint64_t next_u64();
};

// From the operating system.
std::unique_ptr<Random> posix_random();

// The same bytes for the same seed. Guessable.
std::unique_ptr<Random> seeded_random(std::uint64_t seed);

}  // namespace holdfast::env
