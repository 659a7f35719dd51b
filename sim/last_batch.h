// SPDX-License-Identifier: Apache-2.0
// The last batch with records in the last segment of a journal, found without opening it.
#pragma once

#include <cstdint>
#include <optional>

#include "env/disk_state.h"

namespace holdfast::sim {

struct LastBatch {
  std::uint64_t file = 0;  // of the disk
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_record = 0;
  bool is_marked = false;  // a mark behind it, or the segment, says that it is durable
};

// Nothing: there is none.
std::optional<LastBatch> find_last_batch(const env::DiskState& state);

}  // namespace holdfast::sim
