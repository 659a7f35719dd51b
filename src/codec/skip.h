// SPDX-License-Identifier: Apache-2.0
// Passes over one value of a reader, however deep it nests, without recursion.
#pragma once

#include "codec/item.h"
#include "codec/limits.h"

namespace holdfast::codec {

template <class Reader>
bool skip_value(Reader& reader) {
  Cursor open[kMaxDepth];
  std::size_t depth = 0;
  Item item;
  for (;;) {
    Cursor cursor;
    if (!reader.value(item, cursor)) return false;
    if (item.kind == ItemKind::kList || item.kind == ItemKind::kMap ||
        item.kind == ItemKind::kTag) {
      if (depth == kMaxDepth) return reader.too_deep();
      open[depth++] = cursor;
    }
    for (;;) {
      if (depth == 0) return true;
      const More next = reader.more(open[depth - 1]);
      if (next == More::kError) return false;
      if (next == More::kYes) break;
      --depth;
    }
    if (open[depth - 1].map && !reader.key(item)) return false;
  }
}

}  // namespace holdfast::codec
