// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <array>

namespace holdfast::base {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// A bit above the six of a value, so that one test finds a wrong character among four.
constexpr std::uint32_t kWrong = 0x80;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kWrong);
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  return values;
}();

std::uint32_t value_of(char c) noexcept { return kValues[static_cast<unsigned char>(c)]; }

}  // namespace

void base64_encode_append(ByteView bytes, std::string& out) {
  const std::size_t start = out.size();
  out.resize(start + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data() + start;
  const std::uint8_t* from = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, from += 3, to += 4) {
    const std::uint32_t group =
        std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
    to[0] = kAlphabet[group >> 18];
    to[1] = kAlphabet[group >> 12 & 63];
    to[2] = kAlphabet[group >> 6 & 63];
    to[3] = kAlphabet[group & 63];
  }
  if (left == 0) return;
  const std::uint32_t group =
      std::uint32_t{from[0]} << 16 | (left == 2 ? std::uint32_t{from[1]} << 8 : 0);
  to[0] = kAlphabet[group >> 18];
  to[1] = kAlphabet[group >> 12 & 63];
  if (left == 2) to[2] = kAlphabet[group >> 6 & 63];
}

bool base64_decode_append(std::string_view text, Bytes& out) {
  if (text.size() % 4 != 0) return false;
  if (text.empty()) return true;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::size_t start = out.size();
  out.resize(start + text.size() / 4 * 3 - padding);
  std::uint8_t* to = out.data() + start;
  const char* from = text.data();
  std::uint32_t wrong = 0;

  const char* const last_group = from + text.size() - (padding == 0 ? 0 : 4);
  for (; from != last_group; from += 4, to += 3) {
    const std::uint32_t a = value_of(from[0]), b = value_of(from[1]);
    const std::uint32_t c = value_of(from[2]), d = value_of(from[3]);
    wrong |= a | b | c | d;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    to[0] = static_cast<std::uint8_t>(group >> 16);
    to[1] = static_cast<std::uint8_t>(group >> 8);
    to[2] = static_cast<std::uint8_t>(group);
  }
  if (padding != 0) {
    const std::uint32_t a = value_of(from[0]), b = value_of(from[1]);
    const std::uint32_t c = padding == 1 ? value_of(from[2]) : 0;
    wrong |= a | b | c;
    const std::uint32_t group = a << 18 | b << 12 | c << 6;
    to[0] = static_cast<std::uint8_t>(group >> 16);
    if (padding == 1) to[1] = static_cast<std::uint8_t>(group >> 8);
    if ((group & (padding == 1 ? 0xffU : 0xffffU)) != 0) wrong = kWrong;
  }

  if ((wrong & kWrong) == 0) return true;
  out.resize(start);
  return false;
}

Result<Bytes> from_base64(std::string_view text) {
  Bytes bytes;
  if (!base64_decode_append(text, bytes)) {
    return Error(ErrorCode::kInvalid, "is not base64 in its padded canonical form");
  }
  return bytes;
}

}  // namespace holdfast::base
