// SPDX-License-Identifier: Apache-2.0
#include "defs/forms.h"

namespace holdfast::defs {

SecretDef read_secret(Fields& fields) {
  return {fields.name("name"), fields.text("binding_id"), fields.optional_hash("expected_digest")};
}

void write(ObjectWriter& out, const SecretDef& secret) {
  out.text("name", secret.name);
  out.text("binding_id", secret.binding_id);
  out.optional_hash("expected_digest", secret.expected_digest);
}

}  // namespace holdfast::defs
