// SPDX-License-Identifier: Apache-2.0
#include "cli/columns.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace holdfast::cli {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Whole blocks: a character more or less is a column in a table, no more.
constexpr std::array<Range, 5> kMarks{{
    {0x0300, 0x036f},
    {0x1ab0, 0x1aff},
    {0x200b, 0x200d},
    {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f},
}};
constexpr std::array<Range, 12> kWide{{
    {0x1100, 0x115f},
    {0x2e80, 0x303e},
    {0x3041, 0x4dbf},
    {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},
    {0xac00, 0xd7a3},
    {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},
    {0xff00, 0xff60},
    {0xffe0, 0xffe6},
    {0x1f300, 0x1faff},
    {0x20000, 0x3fffd},
}};

template <std::size_t kCount>
bool is_in(const std::array<Range, kCount>& ranges, std::uint32_t code) noexcept {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    std::uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
    columns += is_in(kMarks, code) ? 0u : is_in(kWide, code) ? 2u : 1u;
    i += length;
  }
  return columns;
}

}  // namespace holdfast::cli
