// SPDX-License-Identifier: Apache-2.0
// YAML enters here and leaves as JSON. Plain scalars mean what YAML 1.2's core schema says (`yes`
// and `no` are texts). Anchors, aliases and tags are refused: a definition says what it says in
// place, and a short text cannot stand for a huge one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::bundle {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;

// One document gives its value, several give a list of their values. Errors name line and column.
base::Result<std::string> yaml_to_json(std::string_view yaml);

}  // namespace holdfast::bundle
