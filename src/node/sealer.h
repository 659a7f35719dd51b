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
  // Both must outlive it. kConflict: what was sealed last is not in this journal.
  static base::Result<std::unique_ptr<Sealer>> open(store::WorldFolder& world,
                                                    store::Journal& journal);

  // One seal over durable records, up to the limits. After kUnavailable (no space) one may try
  // again.
  base::Result<void> run(const SliceLimits& limits = {});

  // Durable records that are not sealed, and the first of them.
  store::RecordNumber lag() const { return journal_.durable() + 1 - next(); }
  store::RecordNumber next() const;

 private:
  Sealer(store::Journal& journal, std::unique_ptr<store::Seals> seals,
         std::unique_ptr<executors::SigningKey> key)
      : journal_(journal), seals_(std::move(seals)), key_(std::move(key)) {}

  store::Journal& journal_;
  std::unique_ptr<store::Seals> seals_;
  std::unique_ptr<executors::SigningKey> key_;
  std::unique_ptr<store::JournalReader> reader_;
};

}  // namespace holdfast::node
