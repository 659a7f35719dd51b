// SPDX-License-Identifier: Apache-2.0
#include "kernel/text.h"

#include "kernel/limits.h"

namespace holdfast::kernel {

std::string shown(std::string_view text) {
  std::string kept(text.substr(0, kMaxReasonBytes));
  // Cutting may have left a part of a character behind.
  while (!kept.empty() && text.size() > kept.size() && (text[kept.size()] & 0xC0) == 0x80)
    kept.pop_back();
  if (codec::is_utf8(kept)) return kept;
  for (char& c : kept) {
    if ((c & 0x80) != 0) c = '?';
  }
  return kept;
}

}  // namespace holdfast::kernel
