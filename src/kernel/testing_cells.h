// SPDX-License-Identifier: Apache-2.0
// For the tests of cells: blobs that count, and cells and messages that are made of a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernel/cell_codec.h"
#include "kernel/cells.h"
#include "kernel/testing_blobs.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel::testing {

inline base::Bytes key_of(std::uint64_t n) { return value(std::to_string(n)); }

inline base::Hash id_of(std::uint64_t n) { return key_hash(key_of(n)); }

// Counts what is read and written, and can be told to fail.
class CountingBlobs : public MemoryBlobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    ++gets;
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::get(hash);
  }
  base::Result<base::Hash> put(base::ByteView bytes) override {
    ++puts;
    largest = std::max(largest, bytes.size());
    if (broken) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return MemoryBlobs::put(bytes);
  }
  mutable int gets = 0;
  int puts = 0;
  std::size_t largest = 0;
  bool broken = false;
};

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
