// SPDX-License-Identifier: Apache-2.0
// Finds the end of the plain part of a JSON string, sixteen bytes at a time.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace holdfast::codec {

// Where the first byte stands that ends a run of plain text: a quote, a backslash or a control
// character. `high` becomes true when the run holds a byte above 0x7f, so that only such text
// pays for a look at its UTF-8.
inline const char* scan_plain(const char* at, const char* end, bool& high) noexcept {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\'));
    const __m128i control =
        _mm_cmpeq_epi8(_mm_max_epu8(chunk, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f));
    const auto stop = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)));
    auto highs = static_cast<std::uint32_t>(_mm_movemask_epi8(chunk));
    if (stop != 0) {
      const int count = std::countr_zero(stop);
      highs &= (std::uint32_t{1} << count) - 1;
      high |= highs != 0;
      return at + count;
    }
    high |= highs != 0;
    at += 16;
  }
#endif
  for (; at < end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < 0x20) break;
    high |= byte >= 0x80;
  }
  return at;
}

}  // namespace holdfast::codec
