// SPDX-License-Identifier: Apache-2.0
// Text that people and machines put into ticks and steps. What is kept stands in records, so it
// must be UTF-8 and of bounded length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/utf8.h"

namespace holdfast::kernel {

inline bool is_text(std::string_view text, std::size_t most) noexcept {
  return text.size() <= most && codec::is_utf8(text);
}

// The text as it may stand in a record, for texts that explain: too much is cut, and what is not
// UTF-8 becomes question marks.
std::string shown(std::string_view text);

}  // namespace holdfast::kernel
