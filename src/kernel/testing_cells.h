// SPDX-License-Identifier: Apache-2.0
// For the tests of cells: cells and messages that are made of a number.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/cell_codec.h"
#include "kernel/cells.h"
#include "kernel/testing_blobs.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel::testing {

inline base::Bytes key_of(std::uint64_t n) { return value(std::to_string(n)); }

inline base::Hash id_of(std::uint64_t n) { return key_hash(key_of(n)); }

inline Cell& add(Cells& cells, std::uint64_t n, std::size_t state_size = 10) {
  Cell& cell = cells.begin(id_of(n), key_of(n));
  cells.set_state(cell, base::Bytes(state_size, static_cast<std::uint8_t>(n)));
  return cell;
}

// A message whose value has so many bytes.
inline Mail message(std::size_t size, std::uint8_t fill = 0) {
  Mail mail;
  mail.schema = "s";
  mail.value = base::Bytes(size, fill);
  return mail;
}

}  // namespace holdfast::kernel::testing
