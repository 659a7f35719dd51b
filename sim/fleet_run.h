// SPDX-License-Identifier: Apache-2.0
// A run of a server with workers: graphs are submitted while processes die and stand still, the
// network loses, doubles, delays and reorders messages or is cut, clocks jump, and operators
// cordon, drain and cancel. FleetLedger holds what must be true all the time. Then the faults end,
// and every graph must.
#pragma once

#include <cstdint>

#include "sim/report.h"

namespace holdfast::sim {

struct FleetOptions {
  std::uint64_t seed = 0;
  std::uint64_t steps = 1500;  // with faults
  bool keeps_notes = false;
};

Report run_fleet(const FleetOptions& options);

}  // namespace holdfast::sim
