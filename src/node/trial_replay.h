// SPDX-License-Identifier: Apache-2.0
// TrialReplay: replays a journal from its first record into a world that is thrown away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/world.h"
#include "node/scratch_blobs.h"

namespace holdfast::node {

// Machines, and which of them were asked for in vain.
class WatchedMachines : public kernel::MachineSource {
 public:
  explicit WatchedMachines(const kernel::MachineSource& machines) : machines_(machines) {}

  const kernel::Machine* find(const defs::ModuleDef& module,
                              std::string_view entrypoint) const override;
  std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                       const defs::Catalogue& catalogue) const override;

  // "shop/code@1 (shop/Order@1), ..."
  const std::string& missing() const noexcept { return missing_; }

 private:
  const kernel::MachineSource& machines_;
  mutable std::string missing_;
};

class TrialReplay {
 public:
  explicit TrialReplay(const kernel::MachineSource& machines)
      : machines_(machines), world_(machines_, blobs_) {}

  // Replays the next record. After the first error, or when code is missing, it does nothing more.
  base::Result<void> replay(base::ByteView record);

  std::uint64_t replayed() const noexcept { return replayed_; }

  // Why it does nothing more though nothing is wrong; empty: it goes on.
  const std::string& stopped() const noexcept { return stopped_; }
  void stop(std::string why) { stopped_ = std::move(why); }

 private:
  WatchedMachines machines_;
  ScratchBlobs blobs_;
  kernel::World world_;
  std::uint64_t replayed_ = 0;
  std::string stopped_;
};

}  // namespace holdfast::node
