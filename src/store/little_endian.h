// SPDX-License-Identifier: Apache-2.0
// Numbers as they stand in our files: little-endian, as the machines are that we run on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/check.h"

namespace holdfast::store {

static_assert(std::endian::native == std::endian::little);

class FieldWriter {
 public:
  explicit FieldWriter(std::span<std::uint8_t> into) : into_(into) {}

  template <std::unsigned_integral T>
  void number(T value) {
    std::memcpy(take(sizeof value).data(), &value, sizeof value);
  }
  template <std::size_t n>
  void bytes(const std::array<std::uint8_t, n>& value) {
    std::copy(value.begin(), value.end(), take(n).begin());
  }

 private:
  std::span<std::uint8_t> take(std::size_t count) {
    CHECK(count <= into_.size());
    const auto taken = into_.first(count);
    into_ = into_.subspan(count);
    return taken;
  }

  std::span<std::uint8_t> into_;
};

// For input whose length was looked at before.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> from) : from_(from) {}

  template <std::unsigned_integral T>
  void number(T& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  template <std::size_t n>
  void bytes(std::array<std::uint8_t, n>& value) {
    const auto taken = take(n);
    std::copy(taken.begin(), taken.end(), value.begin());
  }

 private:
  std::span<const std::uint8_t> take(std::size_t count) {
    CHECK(count <= from_.size());
    const auto taken = from_.first(count);
    from_ = from_.subspan(count);
    return taken;
  }

  std::span<const std::uint8_t> from_;
};

}  // namespace holdfast::store
