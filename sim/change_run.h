// SPDX-License-Identifier: Apache-2.0
// A run in which the definitions of a world change at random while everything goes on: versions are
// applied, pinned, blocked and rolled back; instances move to other versions, keys are used again,
// instances begin again as they were; the process dies and goes on from its last snapshot. A ledger
// says after every tick what each instance must be. At the end the whole journal is replayed: the
// world is the same, byte for byte.
#pragma once

#include <cstdint>

#include "sim/report.h"

namespace holdfast::sim {

struct ChangeOptions {
  std::uint64_t seed = 0;
  std::uint64_t steps = 200;
  bool keeps_notes = false;
};

Report run_changes(const ChangeOptions& options);

}  // namespace holdfast::sim
