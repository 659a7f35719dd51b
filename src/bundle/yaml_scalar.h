// SPDX-License-Identifier: Apache-2.0
// What a plain YAML scalar means, by the core schema of YAML 1.2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::bundle {

// The JSON literal for null, true, false or a number; nothing for a text. A number without a JSON
// form (.inf, .nan, more than 64 bits in hexadecimal or octal) gives an empty literal.
std::optional<std::string> plain_scalar_to_json(std::string_view scalar);

}  // namespace holdfast::bundle
