// SPDX-License-Identifier: Apache-2.0
// Writes one scalar of a given type in its canonical form, or refuses it.
#pragma once

#include "codec/buffer.h"
#include "codec/item.h"
#include "codec/type.h"

namespace holdfast::codec {

// False: the item does not fit the type. `refusal` then says why, or stays null where the kinds
// alone explain it (expected nat, got text).
bool write_scalar(Buffer& out, TypeKind type, const Item& item, const char*& refusal);

// The same for the key of a map; in JSON a whole number is written as text there.
bool write_key(Buffer& out, TypeKind type, const Item& key, const char*& refusal);

}  // namespace holdfast::codec
