// SPDX-License-Identifier: Apache-2.0
// Finds the schema that --type and --schema name: a type expression in a file, or a schema of a
// bundle or of the system.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "codec/schema.h"

namespace holdfast::cli {

struct SchemaChoice {
  std::string type;    // a file or a folder; may be empty
  std::string schema;  // the name of a schema; may be empty
};

// Nothing if neither is given. All that is wrong is in `errors`.
std::optional<codec::Schema> find_schema(const SchemaChoice& choice, codec::Errors& errors);

}  // namespace holdfast::cli
