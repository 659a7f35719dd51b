// SPDX-License-Identifier: Apache-2.0
// Text that somebody else wrote, for people to read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::codec {

// The text on one line that every terminal and JSON can show as it is. Control characters of ASCII
// are written as \xNN, and so are all bytes beyond ASCII where the text is not UTF-8; everything
// else that unshown_at() knows as \uNNNN. So JSON, which has none of the former, stays the same
// JSON.
std::string printable(std::string_view text);

// The same, and no more than about so many bytes of it; then "..." says that there was more.
std::string printable(std::string_view text, std::size_t most);

// The bytes of the character at `place` if it must not be shown as it is: a control character, one
// that changes the direction of the text (U+202A to U+202E, U+2066 to U+2069) or ends its line
// (U+2028, U+2029), or U+FFFE and U+FFFF, which XML refuses. 0: it can be shown.
std::size_t unshown_at(std::string_view text, std::size_t place) noexcept;

// The same JSON, with such characters that JSON lets stand as they are (U+007F to U+009F, and those
// that turn the text around or end its line) written as \uNNNN: terminals obey them.
std::string printable_json(std::string_view json);

}  // namespace holdfast::codec
