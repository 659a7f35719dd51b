// SPDX-License-Identifier: Apache-2.0
// How wide a text is on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::cli {

// Of UTF-8 on one line: two columns for what East Asia writes and for pictures, none for marks that
// stand above the letter before them, one for all else. Bytes that are no UTF-8 take one each.
std::size_t columns_of(std::string_view text) noexcept;

}  // namespace holdfast::cli
