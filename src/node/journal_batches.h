// SPDX-License-Identifier: Apache-2.0
// JournalBatches: writes many records to a journal, in batches that the journal takes.
#pragma once

#include "node/batch.h"
#include "store/journal.h"
#include "store/journal_format.h"

namespace holdfast::node {

class JournalBatches {
 public:
  // The journal must outlive it.
  explicit JournalBatches(store::Journal& journal) : journal_(journal) {}

  // May write the records before it, and make them durable.
  base::Result<void> add(base::ByteView record) {
    const std::size_t count = records_.size() + 1;
    const std::size_t bytes = records_.bytes() + record.size() + count * store::kRecordLengthBytes;
    if (count > kMostRecords || bytes > journal_.max_batch_bytes()) TRY(write());
    records_.add(record);
    return {};
  }

  // What is left.
  base::Result<void> write() {
    if (records_.empty()) return {};
    TRY(journal_.append(records_.views()));
    TRY(journal_.sync());
    records_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kMostRecords = 256;

  store::Journal& journal_;
  BatchRecords records_;
};

}  // namespace holdfast::node
