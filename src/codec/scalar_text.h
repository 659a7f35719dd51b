// SPDX-License-Identifier: Apache-2.0
// Scalars that people write as text: decimals, uuids, hashes, times and durations. Each function
// answers whether the text is a good one, and gives its one canonical form.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::codec {

// A short text without allocation.
class ShortText {
 public:
  void push(char c) noexcept { chars_[size_++] = c; }
  void push(std::string_view text) noexcept {
    text.copy(chars_.data() + size_, text.size());
    size_ += text.size();
  }
  void push_repeated(char c, int count) noexcept {
    for (int i = 0; i < count; ++i) push(c);
  }
  std::string_view view() const noexcept { return {chars_.data(), size_}; }

 private:
  std::array<char, 64> chars_;
  std::size_t size_ = 0;
};

// A number of IEEE decimal128: at most 34 significant digits, exponents as there. Written without
// trailing zeros, without '+', plain from 1e-7 up to 34 digits and as 1.5e40 beyond; zero is "0".
bool canonical_dec128(std::string_view text, ShortText& out) noexcept;

// 8-4-4-4-12 hexadecimal digits; written in lower case.
bool canonical_uuid(std::string_view text, ShortText& out) noexcept;

// sha256: and 64 lower-case hexadecimal digits.
bool is_hash_text(std::string_view text) noexcept;

// An RFC 3339 time from 1970 on, with up to nine digits of fraction, as nanoseconds.
bool parse_time(std::string_view text, std::uint64_t& nanoseconds) noexcept;

// Whole numbers with units, the largest unit first: 1h30m, 250ms, -2d. Units: d h m s ms us ns.
bool parse_duration(std::string_view text, std::int64_t& nanoseconds) noexcept;

}  // namespace holdfast::codec
