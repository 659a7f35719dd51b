// SPDX-License-Identifier: Apache-2.0
// Sealer: seals the durable records of a world, in slices, behind the loop: no answer waits for it.
// What a crash left unsealed is sealed by the next one.
#pragma once

#include <memory>

#include "node/history_feed.h"
#include "node/seal.h"

namespace holdfast::node {

class Sealer {
 public:
  // Both must outlive it. A key is made for a world that has neither key nor seals. kConflict: what
  // was sealed last is not what stands in this journal, or was sealed with another key: the old
  // seals are evidence, and nothing is sealed behind them.
  static base::Result<std::unique_ptr<Sealer>> open(store::WorldFolder& world,
                                                    store::Journal& journal);

  // Seals durable records, up to the limits. True: it came to the limits, and there may be more.
  // After kUnavailable (no space) one may try again.
  base::Result<bool> run(const SliceLimits& limits = {});

  // Durable records that are not sealed, and the first of them.
  store::RecordNumber lag() const { return journal_.durable() + 1 - next(); }
  store::RecordNumber next() const;

  // For whoever copies it.
  store::SqliteDatabase& database() noexcept { return seals_->database(); }

 private:
  Sealer(store::Journal& journal, const store::WorldFolder& world,
         std::unique_ptr<store::Seals> seals, std::unique_ptr<executors::SigningKey> key)
      : journal_(journal),
        world_(world.id()),
        life_(world.life()),
        seals_(std::move(seals)),
        key_(std::move(key)),
        first_(journal.first_on_disk()) {}

  store::Journal& journal_;
  store::JournalId world_;
  std::uint32_t life_;
  std::unique_ptr<store::Seals> seals_;
  std::unique_ptr<executors::SigningKey> key_;
  store::RecordNumber first_;  // of the journal on the disk, a while ago
  std::unique_ptr<store::JournalReader> reader_;
};

}  // namespace holdfast::node
