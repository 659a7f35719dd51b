// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace holdfast::base {
namespace {

struct Crc32cVector {
  Bytes bytes;
  std::uint32_t crc;
};

// RFC 3720, B.4, and the usual check value.
std::vector<Crc32cVector> vectors() {
  Bytes rising(32);
  std::iota(rising.begin(), rising.end(), std::uint8_t{0});
  Bytes falling(rising.rbegin(), rising.rend());
  Bytes read_command = {0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                        0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
                        0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
                        0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  const ByteView digits = as_bytes("123456789");
  return {{Bytes(32, 0x00), 0x8a9136aa},
          {Bytes(32, 0xff), 0x62a8ab43},
          {rising, 0x46dd794e},
          {falling, 0x113fdb5c},
          {read_command, 0xd9963a56},
          {{}, 0},
          {{digits.begin(), digits.end()}, 0xe3069283}};
}

TEST(Crc32c, agrees_with_the_vectors_of_rfc_3720) {
  for (const auto& [bytes, crc] : vectors()) EXPECT_EQ(crc32c(bytes), crc);
}

TEST(Crc32c, the_table_agrees_with_the_vectors_too) {
  for (const auto& [bytes, crc] : vectors()) EXPECT_EQ(crc32c_ways::by_table(bytes, 0), crc);
}

Bytes noise(std::size_t size) {
  Bytes bytes(size);
  std::uint32_t state = 1;
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

// As the definition has it, one bit after the other.
std::uint32_t plain(ByteView bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, both_ways_agree_with_the_definition_at_every_length_and_alignment) {
  constexpr std::size_t kMaxLength = 4096;
  const Bytes bytes = noise(kMaxLength + 16);
  for (std::size_t start = 0; start < 16; ++start) {
    std::uint32_t expected = 7;
    for (std::size_t length = 0; length <= kMaxLength; ++length) {
      const ByteView part = ByteView(bytes).subspan(start, length);
      if (length > 0) expected = plain(part.last(1), expected);
      ASSERT_EQ(crc32c_ways::by_table(part, 7), expected) << start << " " << length;
      if (!crc32c_ways::has_instruction()) continue;
      ASSERT_EQ(crc32c_ways::by_instruction(part, 7), expected) << start << " " << length;
    }
  }
}

// Long enough that every stride of the instruction's way is taken, several times and with any rest.
TEST(Crc32c, both_ways_agree_on_long_bytes) {
  if (!crc32c_ways::has_instruction()) GTEST_SKIP() << "this processor has no crc32 instruction";
  const Bytes bytes = noise(70'000);
  for (std::size_t length = 4096; length < bytes.size(); length += 61) {
    const ByteView part = ByteView(bytes).subspan(length % 17, length - length % 17);
    ASSERT_EQ(crc32c_ways::by_instruction(part, 7), crc32c_ways::by_table(part, 7)) << length;
  }
}

TEST(Crc32c, pieces_give_the_checksum_of_the_whole) {
  const ByteView whole = as_bytes("the quick brown fox jumps over the lazy dog");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    EXPECT_EQ(crc32c(whole.subspan(cut), crc32c(whole.first(cut))), crc32c(whole));
  }
}

TEST(Crc32c, every_single_flipped_bit_is_seen) {
  Bytes bytes(64, 0x5a);
  const std::uint32_t good = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_NE(crc32c(bytes), good);
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
}

}  // namespace
}  // namespace holdfast::base
