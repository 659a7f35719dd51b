// SPDX-License-Identifier: Apache-2.0
// What is said of a value that does not fit its type. The words only: where it is, and that it is
// refused, is for whoever walks it (codec/machine.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/item.h"
#include "codec/type.h"

namespace holdfast::codec {

// What a type wants, what an item is, and a text in quotes, shortened.
std::string expectation(TypeKind type);
std::string describe(const Item& item);
std::string quoted(std::string_view text);

std::string not_a_field(const Item& key);
std::string not_a_key(TypeKind type, const Item& key, const char* refusal);

// In a variant; with sugar it is {arm: value}.
std::string not_of_a_variant(bool has_sugar, const Item& key);

// Of so many items, or else of too many bytes.
std::string beyond_limits(std::size_t items);

}  // namespace holdfast::codec
