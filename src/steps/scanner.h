// SPDX-License-Identifier: Apache-2.0
// Scanner: reads CBOR items front to back, each where it is expected, without a look ahead. Bytes
// that are not as expected are found out and do no harm: nothing is read behind the end, and what
// was read until then is dropped by whoever asks `good` at the end.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "codec/cbor_head.h"
#include "codec/utf8.h"

namespace holdfast::steps {

class Scanner {
 public:
  explicit Scanner(base::ByteView bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t nat() { return head(codec::Major::kNat); }
  std::uint32_t nat32() {
    const std::uint64_t number = nat();
    require(number <= UINT32_MAX);
    return static_cast<std::uint32_t>(number);
  }
  bool boolean() {
    const std::uint8_t byte = next();
    require(byte == codec::kTrueByte || byte == codec::kFalseByte);
    return byte == codec::kTrueByte;
  }
  base::ByteView bytes() { return take(head(codec::Major::kBytes)); }
  std::string_view text() {
    const std::string_view text = base::as_text(take(head(codec::Major::kText)));
    require(codec::is_utf8(text));
    return good_ ? text : std::string_view();
  }

  // How many items follow. Each takes a byte at least, so it is bounded by what is there.
  std::size_t list() {
    const std::uint64_t count = head(codec::Major::kList);
    require(count <= left());
    return good_ ? static_cast<std::size_t>(count) : 0;
  }
  // Exactly so many follow.
  void list(std::uint64_t count) { require(list() == count); }

  // A number that stands for one of the values up to `last`.
  template <class Enum>
  Enum choice(Enum last) {
    const std::uint64_t number = nat();
    require(number <= static_cast<std::uint64_t>(last));
    return good_ ? static_cast<Enum>(number) : Enum{};
  }

  // What has not been read.
  base::ByteView rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  void require(bool good) noexcept { good_ &= good; }
  bool good() const noexcept { return good_; }
  bool done() const noexcept { return good_ && at_ == end_; }  // and nothing is left

 private:
  std::uint64_t left() const noexcept { return static_cast<std::uint64_t>(end_ - at_); }
  std::uint8_t next() {
    if (!good_ || at_ == end_) {
      good_ = false;
      return 0;
    }
    return *at_++;
  }
  std::uint64_t head(codec::Major major) {
    const std::uint8_t first = next();
    require(static_cast<codec::Major>(first >> 5) == major);
    const std::uint8_t low = first & 0x1f;
    if (!good_ || low < codec::kOneByte) return good_ ? low : 0;
    const std::size_t size = std::size_t{1} << (low - codec::kOneByte);
    require(low <= codec::kEightBytes && size <= left());
    if (!good_) return 0;
    const std::uint64_t number = codec::load_big_endian(at_, size);
    at_ += size;
    return number;
  }
  base::ByteView take(std::uint64_t size) {
    require(size <= left());
    if (!good_) return {};
    const base::ByteView taken(at_, static_cast<std::size_t>(size));
    at_ += size;
    return taken;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool good_ = true;
};

}  // namespace holdfast::steps
