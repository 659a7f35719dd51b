// SPDX-License-Identifier: Apache-2.0
// The SQL files of src/postgres/sql, as they are in this program.
#pragma once

#include <span>
#include <string_view>

namespace holdfast::postgres {

struct SchemaScript {
  int version = 0;  // of the schema that it belongs to
  std::string_view name;
  std::string_view text;
};

// In the order in which they are run.
std::span<const SchemaScript> schema_scripts() noexcept;

}  // namespace holdfast::postgres
