// SPDX-License-Identifier: Apache-2.0
#include "engine/past_source.h"

#include <utility>

namespace holdfast::engine {

PinnedSnapshots::~PinnedSnapshots() {
  world_.kernel_blobs().with_store([this] { pins_.clear(); });
}

base::Result<std::vector<store::SnapshotEntry>> PinnedSnapshots::list(std::uint64_t record,
                                                                      std::size_t most) {
  return world_.kernel_blobs().with_store(
      [this, record, most]() -> base::Result<std::vector<store::SnapshotEntry>> {
        std::vector<store::SnapshotEntry> entries = TRY(world_.snapshots().list());
        std::erase_if(entries, [record](const store::SnapshotEntry& entry) {
          return entry.next_record - 1 > record;
        });
        if (entries.size() > most) entries.resize(most);
        for (const store::SnapshotEntry& entry : entries)
          pins_.push_back(
              std::make_unique<store::Snapshots::Pin>(world_.snapshots(), entry.number));
        return entries;
      });
}

node::PastSource source_of(node::LocalWorld& world, std::vector<store::SnapshotEntry> snapshots) {
  node::PastSource source;
  source.first = world.journal().first();
  source.last = world.journal().durable();
  source.read = [&world](store::RecordNumber from) { return world.journal().read(from); };
  source.blob = [&world](const base::Hash& hash) { return world.kernel_blobs().get(hash); };
  source.snapshots = std::move(snapshots);
  return source;
}

}  // namespace holdfast::engine
