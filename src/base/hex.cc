// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

namespace holdfast::base {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

// 0 to 15, or -1.
constexpr int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool hex_decode(std::string_view text, std::span<std::uint8_t> out) noexcept {
  if (text.size() % 2 != 0 || text.size() / 2 != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    int value = digit_value(text[2 * i]) * 16 | digit_value(text[2 * i + 1]);
    if (value < 0) return false;  // the sign of either -1 survives both operators
    out[i] = static_cast<std::uint8_t>(value);
  }
  return true;
}

Result<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return Error(ErrorCode::kInvalid, "hex text has an odd length");
  Bytes bytes(text.size() / 2);
  if (!hex_decode(text, bytes)) return Error(ErrorCode::kInvalid, "hex text has a wrong digit");
  return bytes;
}

}  // namespace holdfast::base
