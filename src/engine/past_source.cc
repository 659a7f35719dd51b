// SPDX-License-Identifier: Apache-2.0
#include "engine/past_source.h"

#include <utility>

namespace holdfast::engine {

PinnedPast::~PinnedPast() {
  world_.kernel_blobs().with_store([this] { snapshots_.clear(); });
}

base::Result<node::PastSource> PinnedPast::source(std::uint64_t record, std::size_t most) {
  node::PastSource source;
  source.first = records_->first();
  source.last = last_;
  source.read = [this](store::RecordNumber from) { return world_.journal().read(from); };
  // One blob at a time, so that the world waits for one at most.
  source.blob = [this](const base::Hash& hash) { return world_.kernel_blobs().get(hash); };
  source.snapshots = TRY(world_.kernel_blobs().with_store(
      [this, record, most]() -> base::Result<std::vector<store::SnapshotEntry>> {
        std::vector<store::SnapshotEntry> entries = TRY(world_.snapshots().list());
        if (entries.size() > store::kSnapshotsKept) entries.resize(store::kSnapshotsKept);
        std::erase_if(entries, [record](const store::SnapshotEntry& entry) {
          return entry.next_record - 1 > record;
        });
        if (entries.size() > most) entries.resize(most);
        for (const store::SnapshotEntry& entry : entries)
          snapshots_.push_back(
              std::make_unique<store::Snapshots::Pin>(world_.snapshots(), entry.number));
        return entries;
      }));
  return source;
}

base::Error PinnedPast::lost() const {
  return {base::ErrorCode::kTooLarge,
          "it takes too long: the journal cannot hold what it had from record " +
              std::to_string(records_->first()) + " on any longer"};
}

}  // namespace holdfast::engine
