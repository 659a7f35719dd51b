// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <array>
#include <cstring>

#include "base/check.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace holdfast::base {
namespace crc32c_ways {
namespace {

// kTables[k][b]: what the byte b contributes when k bytes follow it.
constexpr std::array<std::array<std::uint32_t, 256>, 8> kTables = [] {
  constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}();

}  // namespace

std::uint32_t by_table(ByteView bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint8_t* b = bytes.data();
    crc = kTables[7][(crc & 0xff) ^ b[0]] ^ kTables[6][(crc >> 8 & 0xff) ^ b[1]] ^
          kTables[5][(crc >> 16 & 0xff) ^ b[2]] ^ kTables[4][(crc >> 24) ^ b[3]] ^
          kTables[3][b[4]] ^ kTables[2][b[5]] ^ kTables[1][b[6]] ^ kTables[0][b[7]];
  }
  for (std::uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)

bool has_instruction() noexcept { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(ByteView bytes,
                                                               std::uint32_t before) noexcept {
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  auto narrow = static_cast<std::uint32_t>(crc);
  for (std::uint8_t byte : bytes) narrow = _mm_crc32_u8(narrow, byte);
  return ~narrow;
}

#else

bool has_instruction() noexcept { return false; }

std::uint32_t by_instruction(ByteView, std::uint32_t) noexcept {
  CHECK(has_instruction());
  return 0;
}

#endif

}  // namespace crc32c_ways

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) noexcept {
  return crc32c_ways::has_instruction() ? crc32c_ways::by_instruction(bytes, before)
                                        : crc32c_ways::by_table(bytes, before);
}

}  // namespace holdfast::base
