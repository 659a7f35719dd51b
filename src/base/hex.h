// SPDX-License-Identifier: Apache-2.0
// Hexadecimal text: two digits per byte, written in lower case, read in either case.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::base {

std::string to_hex(ByteView bytes);
Result<Bytes> from_hex(std::string_view text);

// The same into memory of the caller; false when `text` is not exactly out.size() bytes in hex,
// and then `out` may be partly written.
bool hex_decode(std::string_view text, std::span<std::uint8_t> out) noexcept;

}  // namespace holdfast::base
