// SPDX-License-Identifier: Apache-2.0
// Writes CBOR items in their shortest form. The order of map keys is the caller's business: what
// is written in another order becomes canonical through the normaliser (codec/normaliser.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "codec/cbor_head.h"

namespace holdfast::codec {

inline void write_head(Buffer& out, Major major, std::uint64_t n) {
  out.advance(put_head(out.room(kMaxHeadBytes), major, n));
}

inline void write_null(Buffer& out) { out.push(kNullByte); }
inline void write_bool(Buffer& out, bool value) { out.push(value ? kTrueByte : kFalseByte); }
inline void write_nat(Buffer& out, std::uint64_t value) { write_head(out, Major::kNat, value); }
inline void write_int(Buffer& out, std::int64_t value) {
  if (value >= 0) return write_head(out, Major::kNat, static_cast<std::uint64_t>(value));
  write_head(out, Major::kNegative, ~static_cast<std::uint64_t>(value));
}
inline void write_text(Buffer& out, std::string_view value) {
  std::uint8_t* at = out.room(kMaxHeadBytes + value.size());
  const std::size_t head = put_head(at, Major::kText, value.size());
  if (!value.empty()) std::memcpy(at + head, value.data(), value.size());
  out.advance(head + value.size());
}
inline void write_bytes(Buffer& out, base::ByteView value) {
  write_head(out, Major::kBytes, value.size());
  out.append(value);
}
inline void write_list_head(Buffer& out, std::uint64_t count) {
  write_head(out, Major::kList, count);
}
inline void write_map_head(Buffer& out, std::uint64_t count) {
  write_head(out, Major::kMap, count);
}

// The shortest of half, single and double that keeps the value; every NaN is the same NaN.
void write_float(Buffer& out, double value);

}  // namespace holdfast::codec
