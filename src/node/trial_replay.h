// SPDX-License-Identifier: Apache-2.0
// TrialReplay: replays a journal into a world that is thrown away, from its first record on, or
// from a snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/world.h"
#include "node/scratch_blobs.h"
#include "store/blobs_look.h"

namespace holdfast::node {

// Machines, and which of them were asked for in vain.
class WatchedMachines : public kernel::MachineSource {
 public:
  explicit WatchedMachines(const kernel::MachineSource& machines) : machines_(machines) {}

  const kernel::Machine* find(const defs::ModuleDef& module,
                              std::string_view entrypoint) const override;
  std::shared_ptr<const kernel::Machine> make(const defs::ModuleDef& module,
                                              const defs::WorkflowDef& workflow,
                                              const defs::Catalogue& catalogue) const override;
  const kernel::Machine* find_fitting(const defs::ModuleDef& module,
                                      const defs::WorkflowDef& workflow,
                                      const defs::Catalogue& catalogue,
                                      std::string& why) const override;
  const kernel::Machine* find_system(std::string_view workflow) const override {
    return machines_.find_system(workflow);
  }
  std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                       const defs::Catalogue& catalogue) const override;

  // "shop/code@1 (shop/Order@1), ..."
  const std::string& missing() const noexcept { return missing_; }

 private:
  const kernel::MachineSource& machines_;
  mutable std::string missing_;
};

// After the first error, or when it was stopped, it does nothing more.
class TrialReplay {
 public:
  // Both must outlive it; `stored` may be null.
  TrialReplay(const kernel::MachineSource& machines, store::BlobsLook* stored)
      : machines_(machines), blobs_(stored), world_(machines_, blobs_) {}

  // Begins with the world of this snapshot. An error leaves it as it was, and another may do.
  base::Result<void> begin_with(const store::SnapshotEntry& snapshot);

  // The next record; those before it are passed over.
  base::Result<void> replay(const store::Record& record);

  // Whether the world is what this snapshot says, if it has come there. Counted in `reached`.
  base::Result<void> compare(const store::SnapshotEntry& snapshot);

  store::RecordNumber next() const noexcept { return world_.next_record(); }
  std::uint64_t replayed() const noexcept { return replayed_; }
  std::uint64_t reached() const noexcept { return reached_; }

  // Why it does nothing more though nothing is wrong; empty: it goes on.
  const std::string& stopped() const noexcept { return stopped_; }
  void stop(std::string why) { stopped_ = std::move(why); }

 private:
  // An error that says nothing against the journal stops it.
  base::Result<void> judge(base::Error error, std::string why_stopped);

  WatchedMachines machines_;
  ScratchBlobs blobs_;
  kernel::World world_;
  std::uint64_t replayed_ = 0;
  std::uint64_t reached_ = 0;
  std::string stopped_;
};

}  // namespace holdfast::node
