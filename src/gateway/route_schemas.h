// SPDX-License-Identifier: Apache-2.0
// The names that the schemas of gateway/route_bodies.h have in /openapi.json, and an example of
// each that is worth one.
#pragma once

#include <span>
#include <string_view>

namespace holdfast::gateway {

struct NamedSchema {
  std::string_view name;
  std::string_view schema;
  std::string_view example = {};  // JSON
};

std::span<const NamedSchema> named_schemas() noexcept;

// Null: it has no name.
const NamedSchema* find_named(std::string_view schema) noexcept;

}  // namespace holdfast::gateway
