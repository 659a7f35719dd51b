// SPDX-License-Identifier: Apache-2.0
// RunningBackup: a world that runs, as the source of a backup. Its records stay while this is
// there, and so do the blobs that workflows put. Each database is used as its owner does, for some
// pages at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "node/effect_blobs.h"
#include "node/history.h"
#include "node/local_world.h"
#include "store/backup.h"

namespace holdfast::engine {

class RunningBackup : public store::BackupSource {
 public:
  // `history` may be null. All of them must outlive it. `stopped`, from any thread: the backup
  // should end.
  RunningBackup(node::LocalWorld& world, node::WorldEffectBlobs& blobs, node::History* history,
                std::function<bool()> stopped)
      : world_(world),
        blobs_(blobs),
        history_(history),
        stopped_(std::move(stopped)),
        blobs_held_(blobs.hold()),
        records_(world.journal().pin(0)) {}

  env::Disk& disk() override { return world_.folder().disk(); }
  const std::string& path() const override { return world_.folder().path(); }
  const store::JournalId& id() const override { return world_.folder().id(); }
  store::RecordNumber first() const override { return records_->first(); }
  store::RecordNumber last() override { return world_.journal().durable(); }
  base::Result<bool> visit_database(const std::string& name, Step step,
                                    const Between& between) override;
  base::Result<void> check() override;

 private:
  node::LocalWorld& world_;
  node::WorldEffectBlobs& blobs_;
  node::History* const history_;
  const std::function<bool()> stopped_;
  const std::shared_ptr<const void> blobs_held_;
  const std::unique_ptr<store::JournalPin> records_;
};

}  // namespace holdfast::engine
