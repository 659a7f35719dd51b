// SPDX-License-Identifier: Apache-2.0
// The stream of an instance, as records have it: its entries are the annotations of its steps, and
// the last one says that it has ended. A sequence number is the record and the place in it, so it
// needs nobody who counts, and grows over all lives of a key.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/limits.h"
#include "kernel/record_view.h"
#include "store/history_rows.h"

namespace holdfast::node {

inline constexpr unsigned kPlaceBits = 16;
static_assert(kernel::kMaxDeliveriesPerTick * (kernel::kMaxAnnotationsPerStep + 1) <
                  (std::size_t{1} << kPlaceBits),
              "a record has more entries of one instance than places");

constexpr std::uint64_t sequence_of(store::RecordNumber record, std::uint64_t place) noexcept {
  return record << kPlaceBits | place;
}
constexpr store::RecordNumber record_of(std::uint64_t sequence) noexcept {
  return sequence >> kPlaceBits;
}

struct PutOut {
  std::vector<store::StreamEntry> entries;
  std::uint64_t ended = 0;  // the sequence of the end, if the record ended or deleted the instance
};

// What instance number `index` of the record put out in it.
PutOut put_out(const kernel::RecordView& record, std::size_t index);

}  // namespace holdfast::node
