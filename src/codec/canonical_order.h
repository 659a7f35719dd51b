// SPDX-License-Identifier: Apache-2.0
// Closes a container whose entries stand in the output: puts them in canonical order, drops or
// reports what is there twice, adds the fields that are absent, and makes the head right.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "codec/workspace.h"

namespace holdfast::codec {

// The canonical order of two keys. Their first byte holds the kind and the length of most, so it
// often decides.
inline int compare_keys(const Buffer& out, const Entry& a, const Entry& b) noexcept {
  const std::uint8_t first = out.data()[a.begin];
  const std::uint8_t second = out.data()[b.begin];
  if (first != second) return first < second ? -1 : 1;
  return base::compare(out.view(a.begin, a.key_end), out.view(b.begin, b.key_end));
}

// The head of a list, once the number of its elements is known.
void close_list(Workspace& work, const Frame& frame);

// Sorts a set's elements and drops repeated ones.
void close_set(Workspace& work, const Frame& frame);

// Sorts a map's entries. The index of an entry whose key is there twice, if there is one.
std::optional<std::uint32_t> close_map(Workspace& work, const Frame& frame);

// Puts a record's fields in order and writes null for absent options. The index of a field that
// is absent but must not be, if there is one.
std::optional<std::uint32_t> close_record(Workspace& work, const Schema& schema,
                                          const Frame& frame);

}  // namespace holdfast::codec
