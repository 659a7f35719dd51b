// SPDX-License-Identifier: Apache-2.0
// The eight variables of FIPS 180-4 are registers of two lanes with 64 bits, one for each message;
// only the lower half of a lane counts. A word that stands twice in its lane is rotated by one
// shift, for which AVX2 has no instruction of its own. The schedule is computed four words at a
// time for both messages.
#include "base/sha256_lanes.h"

#include "base/check.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define HOLDFAST_AVX2 __attribute__((target("avx2")))
#define HOLDFAST_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace holdfast::base::sha256_lanes {
namespace {

constexpr std::size_t kBlock = 64;

alignas(16) constexpr std::uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// Twice, as the lanes of a wide register want them.
struct WideRounds {
  alignas(32) std::uint32_t words[128];
};
constexpr WideRounds kWideRounds = [] {
  WideRounds wide{};
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t at = i / 4 * 8 + i % 4;
    wide.words[at] = wide.words[at + 4] = kRounds[i];
  }
  return wide;
}();

using Pair = __m128i;  // a word of each message
using Wide = __m256i;  // four words of each message

struct Variables {
  Pair a, b, c, d, e, f, g, h;
  Pair b_xor_c;
};

HOLDFAST_AVX2_INLINE Pair twice(Pair x) { return _mm_shuffle_epi32(x, 0b10'10'00'00); }

HOLDFAST_AVX2_INLINE Pair xor3(Pair x, Pair y, Pair z) {
  return _mm_xor_si128(_mm_xor_si128(x, y), z);
}

HOLDFAST_AVX2_INLINE void round(Variables& v, Pair word) {
  const Pair ee = twice(v.e);
  const Pair sum1 = xor3(_mm_srli_epi64(ee, 6), _mm_srli_epi64(ee, 11), _mm_srli_epi64(ee, 25));
  const Pair choice = _mm_xor_si128(_mm_and_si128(_mm_xor_si128(v.f, v.g), v.e), v.g);
  const Pair one = _mm_add_epi32(_mm_add_epi32(_mm_add_epi32(v.h, word), choice), sum1);
  const Pair aa = twice(v.a);
  const Pair sum0 = xor3(_mm_srli_epi64(aa, 2), _mm_srli_epi64(aa, 13), _mm_srli_epi64(aa, 22));
  const Pair a_xor_b = _mm_xor_si128(v.a, v.b);
  const Pair majority = _mm_xor_si128(_mm_and_si128(a_xor_b, v.b_xor_c), v.b);
  v.h = v.g;
  v.g = v.f;
  v.f = v.e;
  v.e = _mm_add_epi32(v.d, one);
  v.d = v.c;
  v.c = v.b;
  v.b = v.a;
  v.b_xor_c = a_xor_b;
  v.a = _mm_add_epi32(_mm_add_epi32(one, sum0), majority);
}

HOLDFAST_AVX2_INLINE void four_rounds(Variables& v, Wide words, std::size_t group) {
  const auto* constants = reinterpret_cast<const Wide*>(kWideRounds.words) + group;
  const Wide sum = _mm256_add_epi32(words, _mm256_load_si256(constants));
  const __m128i of_a = _mm256_castsi256_si128(sum);
  const __m128i of_b = _mm256_extracti128_si256(sum, 1);
  const Pair first = _mm_unpacklo_epi64(of_a, of_b);
  const Pair third = _mm_unpackhi_epi64(of_a, of_b);
  round(v, first);
  round(v, _mm_srli_epi64(first, 32));
  round(v, third);
  round(v, _mm_srli_epi64(third, 32));
}

// The small sigma of words 14 and 15, or of 16 and 17: two words of each message, twice.
HOLDFAST_AVX2_INLINE Wide sigma1(Wide twice) {
  return _mm256_xor_si256(
      _mm256_xor_si256(_mm256_srli_epi64(twice, 17), _mm256_srli_epi64(twice, 19)),
      _mm256_srli_epi32(twice, 10));
}

// The four words that follow sixteen.
HOLDFAST_AVX2_INLINE Wide next_words(Wide w0, Wide w4, Wide w8, Wide w12) {
  const Wide w1 = _mm256_alignr_epi8(w4, w0, 4);
  const Wide w9 = _mm256_alignr_epi8(w12, w8, 4);
  const Wide right = _mm256_xor_si256(_mm256_srli_epi32(w1, 7), _mm256_srli_epi32(w1, 18));
  const Wide left = _mm256_xor_si256(_mm256_slli_epi32(w1, 25), _mm256_slli_epi32(w1, 14));
  const Wide sigma0 = _mm256_xor_si256(_mm256_xor_si256(right, left), _mm256_srli_epi32(w1, 3));
  const Wide sum = _mm256_add_epi32(_mm256_add_epi32(w0, w9), sigma0);
  // The last two words need the sigma of the first two.
  const Wide pack_low = _mm256_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1,
                                         0, 1, 2, 3, 8, 9, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1);
  const Wide pack_high = _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 8, 9, 10, 11,
                                          -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 8, 9, 10, 11);
  const Wide before = _mm256_shuffle_epi32(w12, 0b11'11'10'10);
  const Wide half = _mm256_add_epi32(sum, _mm256_shuffle_epi8(sigma1(before), pack_low));
  const Wide made = _mm256_shuffle_epi32(half, 0b01'01'00'00);
  return _mm256_add_epi32(half, _mm256_shuffle_epi8(sigma1(made), pack_high));
}

// Four words of each message, which are big-endian.
HOLDFAST_AVX2_INLINE Wide load(const std::uint8_t* a, const std::uint8_t* b) {
  const Wide swap = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,  //
                                     3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  return _mm256_shuffle_epi8(
      _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(b), reinterpret_cast<const __m128i*>(a)),
      swap);
}

// Two words of each state, one in each half of a lane.
HOLDFAST_AVX2_INLINE Pair two_words(const std::uint32_t* a, const std::uint32_t* b) {
  return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)),
                            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)));
}

// Adds the lower halves of two registers to two words of each state.
HOLDFAST_AVX2_INLINE void add_words(std::uint32_t* a, std::uint32_t* b, Pair first, Pair second) {
  const Pair both = _mm_blend_epi32(first, _mm_slli_epi64(second, 32), 0b1010);
  const Pair sum = _mm_add_epi32(both, two_words(a, b));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(a), sum);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(b), _mm_unpackhi_epi64(sum, sum));
}

}  // namespace

bool possible() noexcept { return __builtin_cpu_supports("avx2") != 0; }

bool worthwhile() noexcept {
  static const bool known = [] {
    constexpr unsigned kHasSha = 1u << 29;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return possible() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (ebx & kHasSha) == 0;
  }();
  return known;
}

HOLDFAST_AVX2 void take(std::uint32_t (&a)[8], std::uint32_t (&b)[8], const std::uint8_t* of_a,
                        const std::uint8_t* of_b, std::size_t blocks) noexcept {
  for (; blocks != 0; --blocks, of_a += kBlock, of_b += kBlock) {
    Variables v;
    v.a = two_words(a, b);
    v.b = _mm_srli_epi64(v.a, 32);
    v.c = two_words(a + 2, b + 2);
    v.d = _mm_srli_epi64(v.c, 32);
    v.e = two_words(a + 4, b + 4);
    v.f = _mm_srli_epi64(v.e, 32);
    v.g = two_words(a + 6, b + 6);
    v.h = _mm_srli_epi64(v.g, 32);
    v.b_xor_c = _mm_xor_si128(v.b, v.c);
    Wide w0 = load(of_a, of_b);
    Wide w4 = load(of_a + 16, of_b + 16);
    Wide w8 = load(of_a + 32, of_b + 32);
    Wide w12 = load(of_a + 48, of_b + 48);
#pragma GCC unroll 4
    for (std::size_t group = 0; group < 16; group += 4) {
      four_rounds(v, w0, group);
      if (group != 12) w0 = next_words(w0, w4, w8, w12);
      four_rounds(v, w4, group + 1);
      if (group != 12) w4 = next_words(w4, w8, w12, w0);
      four_rounds(v, w8, group + 2);
      if (group != 12) w8 = next_words(w8, w12, w0, w4);
      four_rounds(v, w12, group + 3);
      if (group != 12) w12 = next_words(w12, w0, w4, w8);
    }
    add_words(a, b, v.a, v.b);
    add_words(a + 2, b + 2, v.c, v.d);
    add_words(a + 4, b + 4, v.e, v.f);
    add_words(a + 6, b + 6, v.g, v.h);
  }
}

}  // namespace holdfast::base::sha256_lanes

#else

namespace holdfast::base::sha256_lanes {

bool possible() noexcept { return false; }
bool worthwhile() noexcept { return false; }
void take(std::uint32_t (&)[8], std::uint32_t (&)[8], const std::uint8_t*, const std::uint8_t*,
          std::size_t) noexcept {
  CHECK(possible());
}

}  // namespace holdfast::base::sha256_lanes

#endif
