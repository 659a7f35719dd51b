// SPDX-License-Identifier: Apache-2.0
// Closes a container whose entries stand in the output: puts them in canonical order, drops or
// reports what is there twice, adds the fields that are absent, and makes the head right.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/workspace.h"

namespace holdfast::codec {

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
