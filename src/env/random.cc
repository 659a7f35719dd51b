// SPDX-License-Identifier: Apache-2.0
#include "env/random.h"

#include <sys/random.h>

#include <cstring>

#include "base/check.h"
#include "env/system_error.h"

namespace holdfast::env {
namespace {

class PosixRandom : public Random {
 public:
  void fill(std::span<std::uint8_t> into) override {
    while (!into.empty()) {
      const ssize_t count =
          again_after_signals([&] { return ::getrandom(into.data(), into.size(), 0); });
      CHECK(count > 0);
      into = into.subspan(static_cast<std::size_t>(count));
    }
  }
};

// SplitMix64.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  void fill(std::span<std::uint8_t> into) override {
    for (std::uint8_t& byte : into) byte = static_cast<std::uint8_t>(next() >> 56);
  }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace

std::uint64_t Random::next_u64() {
  std::uint8_t bytes[8];
  fill(bytes);
  std::uint64_t number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

std::unique_ptr<Random> posix_random() { return std::make_unique<PosixRandom>(); }

std::unique_ptr<Random> seeded_random(std::uint64_t seed) {
  return std::make_unique<SeededRandom>(seed);
}

}  // namespace holdfast::env
