// SPDX-License-Identifier: Apache-2.0
#include "native/uuid.h"

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/sha256.h"

namespace holdfast {

std::string to_text(const Hash& hash) { return base::Hash{hash.bytes}.to_text(); }

std::string to_text(const Uuid& uuid) {
  std::string text = base::to_hex(uuid.bytes);
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) text.insert(dash, 1, '-');
  return text;
}

namespace native {

bool parse_uuid(std::string_view text, Uuid& uuid) {
  if (text.size() != 36) return false;
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; }))
    return false;
  std::string digits(text);
  for (const std::size_t dash : {23u, 18u, 13u, 8u}) {
    if (digits[dash] != '-') return false;
    digits.erase(dash, 1);
  }
  return base::hex_decode(digits, uuid.bytes);
}

Uuid derive_uuid(const base::Hash& entropy, std::uint64_t index) {
  std::array<std::uint8_t, 40> seed{};
  std::copy(entropy.bytes.begin(), entropy.bytes.end(), seed.begin());
  for (std::size_t i = 0; i < 8; ++i)
    seed[32 + i] = static_cast<std::uint8_t>(index >> (8 * (7 - i)));
  const base::Hash hash = base::sha256(seed);
  Uuid uuid;
  std::copy_n(hash.bytes.begin(), uuid.bytes.size(), uuid.bytes.begin());
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);  // of RFC 4122
  return uuid;
}

}  // namespace native
}  // namespace holdfast
