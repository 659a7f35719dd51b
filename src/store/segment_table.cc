// SPDX-License-Identifier: Apache-2.0
#include "store/segment_table.h"

#include <algorithm>
#include <iterator>

namespace holdfast::store {

std::optional<std::uint64_t> SegmentTable::segment_of(RecordNumber record) const {
  const std::lock_guard guard(mutex_);
  // The last one that begins at or before the record: an earlier one with the same beginning is
  // void.
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), record,
      [](RecordNumber number, const Entry& entry) { return number < entry.first; });
  if (after == entries_.begin()) return std::nullopt;
  return std::prev(after)->number;
}

}  // namespace holdfast::store
