// SPDX-License-Identifier: Apache-2.0
// Whether bytes can be looked into with a View: one CBOR item with the self-describe tag before it,
// definite lengths, nothing missing, nothing behind. For what we wrote ourselves and read back,
// whose content is checked in another way (its hash, or doing it again): unlike a value from
// outside it may hold many values, so the limits of one (codec/limits.h) do not hold for it.
#pragma once

#include "base/bytes.h"

namespace holdfast::codec {

bool is_well_formed(base::ByteView bytes) noexcept;

}  // namespace holdfast::codec
