// SPDX-License-Identifier: Apache-2.0
#include "defs/forms.h"

namespace holdfast::defs {

SchemaDef read_schema(Fields& fields) {
  SchemaDef schema{fields.name("name"), {}};
  if (const auto type = fields.required("type")) {
    schema.type =
        codec::parse_type(*type, fields.path_of("type"), fields.errors()).value_or(codec::Type{});
  }
  return schema;
}

void write(ObjectWriter& out, const SchemaDef& schema) {
  out.text("name", schema.name);
  codec::write_type(out.value("type"), schema.type);
}

}  // namespace holdfast::defs
