// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, standard alphabet, padded). One byte string has exactly one text and the other
// way round: missing padding, spaces, line breaks and stray bits behind the last byte are refused.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::base {

Result<Bytes> from_base64(std::string_view text);

// The same behind what `out` holds already. A refused text leaves `out` as it was.
void base64_encode_append(ByteView bytes, std::string& out);
bool base64_decode_append(std::string_view text, Bytes& out);

}  // namespace holdfast::base
