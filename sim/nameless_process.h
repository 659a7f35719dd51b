// SPDX-License-Identifier: Apache-2.0
// NamelessProcess: a process of a simulated machine, which is the same for every seed.
#pragma once

#include <cstdint>
#include <string>

#include "env/process.h"

namespace holdfast::sim {

struct NamelessProcess : env::Process {
  std::int64_t id() override { return 1; }
  std::string host_name() override { return "sim"; }
  std::string boot_id() override { return "sim"; }
};

}  // namespace holdfast::sim
