// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::codec {

bool is_utf8(std::string_view text) noexcept;

// Appends one code point, which must be a scalar value (not a surrogate).
void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace holdfast::codec
