// SPDX-License-Identifier: Apache-2.0
// What the tests of the node share: records of a kernel's bench in a journal. For tests only.
#pragma once

#include "kernel/testing.h"
#include "store/testing.h"

namespace holdfast::node::testing {

// Appends the records that the journal does not have yet, so many to a batch.
inline base::Result<void> append_records(store::Journal& journal,
                                         const std::vector<base::Bytes>& records,
                                         std::size_t batch = 3) {
  while (journal.last() < records.size()) {
    std::vector<base::ByteView> views;
    for (std::size_t i = journal.last(); i < records.size() && views.size() < batch; ++i)
      views.emplace_back(records[i]);
    TRY(journal.append(views));
    TRY(journal.sync());
  }
  return {};
}

}  // namespace holdfast::node::testing
