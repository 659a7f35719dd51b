// SPDX-License-Identifier: Apache-2.0
// Text that somebody else wrote, for people to read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::codec {

// The text on one line that every terminal and JSON can show: control characters, and all bytes
// beyond ASCII where the text is not UTF-8, are written as \xNN.
std::string printable(std::string_view text);

// The same, and no more than about so many bytes of it; then "..." says that there was more.
std::string printable(std::string_view text, std::size_t most);

// How many bytes the character at `place` has if it is none that can be shown: a control character,
// or one that is none by definition, such as XML does not take. 0: it can be.
std::size_t unshown_at(std::string_view text, std::size_t place) noexcept;

// The same JSON, with the control characters that JSON lets stand as they are (U+007F to U+009F)
// written as \u00NN: some terminals obey them.
std::string printable_json(std::string_view json);

}  // namespace holdfast::codec
