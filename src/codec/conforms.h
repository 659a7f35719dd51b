// SPDX-License-Identifier: Apache-2.0
// Whether bytes are already the canonical encoding of a value of a schema. It only says yes when it
// is sure, and knows only the common types: then nothing needs to be written, and it costs a fifth
// of the normaliser. A no says nothing; the normaliser decides, and explains.
#pragma once

#include "base/bytes.h"
#include "codec/schema.h"

namespace holdfast::codec {

// The bytes stand without the self-describe tag.
bool surely_conforms(const Schema& schema, base::ByteView bytes) noexcept;

}  // namespace holdfast::codec
