// SPDX-License-Identifier: Apache-2.0
// A byte string that is written where it stands: its head comes when its size is known.
#pragma once

#include <cstddef>

#include "codec/buffer.h"
#include "codec/cbor_head.h"

namespace holdfast::codec {

template <class Write>
void write_wrapped(Buffer& out, Write write) {
  const std::size_t begin = out.size();
  write(out);
  const std::size_t size = out.size() - begin;
  out.make_gap(begin, head_size(size));
  put_head(out.data() + begin, Major::kBytes, size);
}

}  // namespace holdfast::codec
