// SPDX-License-Identifier: Apache-2.0
// Text that somebody else wrote, for people to read.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::codec {

// The text on one line that every terminal and JSON can show: control characters, and all bytes
// beyond ASCII where the text is not UTF-8, are written as \xNN.
std::string printable(std::string_view text);

// The same, and no more than about so many bytes of it; then "..." says that there was more.
std::string printable(std::string_view text, std::size_t most);

}  // namespace holdfast::codec
