// SPDX-License-Identifier: Apache-2.0
// Workloads on a disk of which one call fails, and power cuts that lose all they can. For tests
// only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/crash.h"
#include "env/sim_disk.h"

namespace holdfast::store::testing {

// A power cut now, and nothing that was not synced has arrived.
inline env::Crash worst_cut(const env::SimDisk& disk) {
  env::Crash crash{.at = disk.operations().size()};
  const auto pending = env::pending_operations(disk.operations());
  crash.lost.insert(pending.begin(), pending.end());
  return crash;
}
inline env::DiskState after_worst_cut(const env::SimDisk& disk) {
  return env::after_crash(disk.start(), disk.operations(), worst_cut(disk));
}

// A disk as one process after the other finds it.
class MortalDisk {
 public:
  env::SimDisk& disk() { return *disks_.back(); }

  // The process dies: what its objects still do when they are destroyed is not seen any more.
  void die() { disks_.push_back(disk().after_process_death()); }

 private:
  std::vector<std::unique_ptr<env::SimDisk>> disks_ = [] {
    std::vector<std::unique_ptr<env::SimDisk>> disks;
    disks.push_back(std::make_unique<env::SimDisk>());
    return disks;
  }();
};

// Runs the workload once without a fault, then with each of its calls failing in turn. Gives how
// many calls there are.
inline std::uint64_t for_each_failing_call(env::DiskFault fault,
                                           const std::function<void(MortalDisk&)>& workload) {
  std::uint64_t calls = 0;
  for (std::uint64_t call = 0; call == 0 || call < calls; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    MortalDisk mortal;
    if (call > 0) mortal.disk().fail_call(call, fault);
    workload(mortal);
    if (::testing::Test::HasFailure()) break;
    if (call == 0) calls = mortal.disk().changing_calls();
  }
  return calls;
}

}  // namespace holdfast::store::testing
