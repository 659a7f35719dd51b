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

// A checksum is a polynomial over bits, modulo this one; the lowest power is in the highest bit.
constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
constexpr std::uint32_t kOne = 0x80000000;

constexpr std::uint32_t times_x(std::uint32_t polynomial) {
  return (polynomial >> 1) ^ ((polynomial & 1) != 0 ? kReversedPolynomial : 0);
}

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = kOne; bit != 0; bit >>= 1, b = times_x(b))
    if ((a & bit) != 0) product ^= b;
  return product;
}

// kTables[k][b]: what the byte b contributes when k bytes follow it.
constexpr std::array<std::array<std::uint32_t, 256>, 8> kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = times_x(crc);
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

namespace {

// What a checksum becomes when kBytes zeros follow: a product, looked up for each of its bytes.
template <std::size_t kBytes>
class Shift {
 public:
  std::uint32_t operator()(std::uint32_t crc) const noexcept {
    return tables_[0][crc & 0xff] ^ tables_[1][crc >> 8 & 0xff] ^ tables_[2][crc >> 16 & 0xff] ^
           tables_[3][crc >> 24];
  }

 private:
  using Tables = std::array<std::array<std::uint32_t, 256>, 4>;
  static constexpr Tables tables_ = [] {
    std::uint32_t factor = kOne;
    for (std::size_t bit = 0; bit < 8 * kBytes; ++bit) factor = times_x(factor);
    Tables tables{};
    for (std::uint32_t place = 0; place < 4; ++place)
      for (std::uint32_t byte = 0; byte < 256; ++byte)
        tables[place][byte] = multiply(factor, byte << 8 * place);
    return tables;
  }();
};

std::uint64_t word_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// The instruction takes three cycles, and one can begin in each: so three stretches of kBytes are
// done side by side and put together at their end. Takes them off `bytes` while there are three.
template <std::size_t kBytes>
__attribute__((target("sse4.2"))) std::uint64_t by_threes(ByteView& bytes,
                                                          std::uint64_t crc) noexcept {
  static_assert(kBytes % 8 == 0);
  constexpr Shift<kBytes> kShift;
  for (; bytes.size() >= 3 * kBytes; bytes = bytes.subspan(3 * kBytes)) {
    const std::uint8_t* const at = bytes.data();
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kBytes; i += 8) {
      crc = _mm_crc32_u64(crc, word_at(at + i));
      second = _mm_crc32_u64(second, word_at(at + kBytes + i));
      third = _mm_crc32_u64(third, word_at(at + 2 * kBytes + i));
    }
    crc = kShift(static_cast<std::uint32_t>(crc)) ^ second;
    crc = kShift(static_cast<std::uint32_t>(crc)) ^ third;
  }
  return crc;
}

}  // namespace

bool has_instruction() noexcept { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(ByteView bytes,
                                                               std::uint32_t before) noexcept {
  std::uint64_t crc = ~before;
  crc = by_threes<4096>(bytes, crc);
  crc = by_threes<256>(bytes, crc);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    crc = _mm_crc32_u64(crc, word_at(bytes.data()));
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
