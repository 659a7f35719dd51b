// SPDX-License-Identifier: Apache-2.0
// What a past world is read from beside the one that runs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "node/local_world.h"
#include "node/past_world.h"

namespace holdfast::engine {

// The records and snapshots that past worlds are read from stay while they are read: the records
// that the journal had at first, and the snapshots that were asked for.
class PinnedPast {
 public:
  explicit PinnedPast(node::LocalWorld& world)
      : world_(world), records_(world.journal().pin(0)), last_(world.journal().durable()) {}
  ~PinnedPast();
  PinnedPast(const PinnedPast&) = delete;
  PinnedPast& operator=(const PinnedPast&) = delete;

  // With the snapshots that a world behind this record may begin with, the nearest first, so many
  // at most. One that is there only because somebody has pinned it is not among them: those who
  // look back one after the other would keep it, and the records behind it, for ever.
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  base::Result<node::PastSource> source(std::uint64_t record, std::size_t most);

  // What came of reading; kTooLarge, if the journal could not hold the records for as long as that:
  // then it may have been without some of them.
  template <class T>
  base::Result<T> judge(base::Result<T> read) const {
    const bool is_of_records = read || read.error().code() == base::ErrorCode::kNotFound;
    if (is_of_records && !records_->holds()) return lost();
    return read;
  }

 private:
  base::Error lost() const;

  node::LocalWorld& world_;
  const std::unique_ptr<store::JournalPin> records_;
  const store::RecordNumber last_;
  std::vector<std::unique_ptr<store::Snapshots::Pin>> snapshots_;
};

}  // namespace holdfast::engine
