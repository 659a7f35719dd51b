// SPDX-License-Identifier: Apache-2.0
// How the key of an instance stands in a path, and in its name, WORKFLOW/KEY: as it is, but for
// texts that no path can have or no terminal can show: an empty one, dots, and what has control
// characters or others of unshown_at() (codec/printable.h) in it. These are written behind a '~',
// with every byte of such a character and every '~' as '~' and two digits: "~" is the empty key,
// "~.." that of two dots, "~a~0Ab" one with a line feed. What would read as such a word is written
// so, too; every other key that begins with '~' is written as it is.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::codec {

// 1. text_of_key(word_of_key(key)) is the key, for every text.
// 2. word_of_key gives no empty word, no dots, nothing that cannot be shown.
std::string word_of_key(std::string_view key);
std::string text_of_key(std::string_view word);

}  // namespace holdfast::codec
