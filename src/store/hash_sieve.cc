// SPDX-License-Identifier: Apache-2.0
#include "store/hash_sieve.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace holdfast::store {
namespace {

constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kKeyBytes = 8;
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::uint8_t i = 0; i < 10; ++i) digits['0' + i] = i;
  for (std::uint8_t i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = 10 + i;
  return digits;
}();

// The set has two hashes a word on average, each with four bits.
std::size_t words_for(std::uint64_t hashes) {
  const std::uint64_t most = HashSieve::kMostBytes / sizeof(std::uint64_t);
  return std::bit_ceil(static_cast<std::size_t>(std::clamp<std::uint64_t>(hashes / 2, 2, most)));
}

std::uint64_t first_bytes_of(const base::Hash& hash) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < kKeyBytes; ++i) key = key << 8 | hash.bytes[i];
  return key;
}

std::optional<base::Hash> from_digits(base::ByteView digits) {
  base::Hash hash;
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    const std::uint8_t high = kDigits[digits[2 * i]];
    const std::uint8_t low = kDigits[digits[2 * i + 1]];
    if (high == kNoDigit || low == kNoDigit) return std::nullopt;
    hash.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return hash;
}

}  // namespace

HashSieve::HashSieve(std::uint64_t hashes)
    : words_(words_for(hashes)),
      shift_(64 - static_cast<unsigned>(std::countr_zero(words_.size()))) {}

HashSieve::Place HashSieve::place_of(std::uint64_t first_bytes) const noexcept {
  const std::uint64_t mixed = first_bytes * 0x9e3779b97f4a7c15;
  const std::uint64_t bits = (first_bytes ^ first_bytes >> 32) * 0xc2b2ae3d27d4eb4f;
  const auto bit = [&](unsigned from) { return std::uint64_t{1} << (bits >> from & 63); };
  return {static_cast<std::size_t>(mixed >> shift_), bit(58) | bit(52) | bit(46) | bit(40)};
}

void HashSieve::add(const base::Hash& hash) {
  const Place place = place_of(first_bytes_of(hash));
  words_[place.word] |= place.bits;
}

void HashSieve::find(base::ByteView bytes, std::vector<base::Hash>& found) const {
  std::uint64_t key = 0;         // the last 8 bytes
  std::uint64_t digits_key = 0;  // the same of the last 16 digits
  std::size_t digits = 0;        // in a row
  for (std::size_t end = 1; end <= bytes.size(); ++end) {
    const std::uint8_t byte = bytes[end - 1];
    key = key << 8 | byte;
    if (end >= kKeyBytes && bytes.size() - (end - kKeyBytes) >= kHashBytes && may_have(key)) {
      base::Hash hash;
      std::copy_n(bytes.data() + (end - kKeyBytes), kHashBytes, hash.bytes.data());
      found.push_back(hash);
    }
    const std::uint8_t digit = kDigits[byte];
    if (digit == kNoDigit) {
      digits = 0;
      continue;
    }
    digits_key = digits_key << 4 | digit;
    const std::size_t begin = end - std::min<std::size_t>(end, 2 * kKeyBytes);
    if (++digits < 2 * kKeyBytes || bytes.size() - begin < kLongestName || !may_have(digits_key))
      continue;
    if (const auto hash = from_digits(bytes.subspan(begin, kLongestName))) found.push_back(*hash);
  }
}

}  // namespace holdfast::store
