// SPDX-License-Identifier: Apache-2.0
// Witnesses: what the snapshots, the index and the seals of a world say of its journal. Each names
// records and a hash, so a journal that lost its end, or took another course, is told from a whole
// one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "node/seal_check.h"
#include "store/blobs_look.h"
#include "store/history_rows.h"

namespace holdfast::node {

// Nothing of it need be there.
struct Witnesses {
  store::BlobsLook* blobs = nullptr;
  std::vector<store::SnapshotEntry> snapshots = {};  // from the newest
  std::optional<store::HistoryCursor> history = {};
  std::shared_ptr<store::SealsLook> seals = {};  // to be read once
  SealTerms terms = {};                          // for them

  // Looks at what there is; what cannot be read is put into `errors`. The blobs must outlive it.
  static Witnesses of(store::BlobsLook* blobs, const store::WorldPlace& world,
                      base::Errors& errors);

  // What is wrong if the journal holds just these records.
  void check_range(store::RecordNumber first, store::RecordNumber last, base::Errors& errors) const;

  // What is wrong if this is one of them.
  void check_record(const store::Record& record, base::Errors& errors) const;

 private:
  void look_at(store::BlobsLook& stored, base::Errors& errors);
};

std::string name_of(const store::SnapshotEntry& entry);

}  // namespace holdfast::node
