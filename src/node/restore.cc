// SPDX-License-Identifier: Apache-2.0
#include "node/restore.h"

#include <utility>

#include "node/witnesses.h"

namespace holdfast::node {
namespace {

using store::SnapshotEntry;

class Restoring {
 public:
  Restoring(const kernel::MachineSource& machines, kernel::Blobs& blobs,
            store::Snapshots& snapshots, store::Journal& journal, kernel::WorldOptions options)
      : machines_(machines),
        blobs_(blobs),
        snapshots_(snapshots),
        journal_(journal),
        options_(options) {}

  base::Result<RestoredWorld> run();

 private:
  base::Result<kernel::World> from(const SnapshotEntry& entry);
  base::Result<kernel::World> from_the_beginning() const;
  base::Result<void> replay(kernel::World& world);
  base::Result<void> forget(const std::vector<SnapshotEntry>& useless);

  const kernel::MachineSource& machines_;
  kernel::Blobs& blobs_;
  store::Snapshots& snapshots_;
  store::Journal& journal_;
  const kernel::WorldOptions options_;
  RestoreReport report_;
  bool another_may_do_ = false;  // when there is an error: whether it is one of the snapshot
};

// Of blobs that are missing or damaged, an older snapshot may need fewer.
bool is_about_blobs(const base::Error& error) {
  return error.code() == base::ErrorCode::kNotFound || error.code() == base::ErrorCode::kCorrupt;
}

base::Result<RestoredWorld> Restoring::run() {
  std::vector<SnapshotEntry> useless;
  for (const SnapshotEntry& entry : TRY(snapshots_.list())) {
    auto world = from(entry);
    if (world) {
      report_.snapshot = entry;
      TRY(forget(useless));
      return RestoredWorld{std::move(*world), std::move(report_)};
    }
    if (!another_may_do_) return std::move(world).error().within(name_of(entry));
    useless.push_back(entry);
    report_.left_out.push_back({entry, world.error().to_string()});
  }
  auto world = TRY(from_the_beginning());
  TRY(replay(world));
  TRY(world.check_code());
  TRY(forget(useless));
  return RestoredWorld{std::move(world), std::move(report_)};
}

// A full disk is no reason not to start: they are left out again the next time.
base::Result<void> Restoring::forget(const std::vector<SnapshotEntry>& useless) {
  auto forgotten = snapshots_.forget(useless);
  if (forgotten || forgotten.error().code() != base::ErrorCode::kUnavailable) return forgotten;
  report_.still_listed = true;
  return {};
}

base::Result<kernel::World> Restoring::from(const SnapshotEntry& entry) {
  another_may_do_ = false;
  auto bytes = snapshots_.read(journal_, entry);
  if (!bytes) {
    another_may_do_ = is_about_blobs(bytes.error());
    return std::move(bytes).error();
  }
  auto world = kernel::World::restore(machines_, blobs_, *bytes, options_);
  if (!world) {
    another_may_do_ = is_about_blobs(world.error());
    return world;
  }
  if (world->next_record() != entry.next_record) {
    another_may_do_ = true;
    return base::Error(base::ErrorCode::kCorrupt,
                       "it says that it is before record " + std::to_string(world->next_record()));
  }
  TRY(replay(*world));
  TRY(world->check_code());
  return world;
}

base::Result<kernel::World> Restoring::from_the_beginning() const {
  if (journal_.first() == 1) return kernel::World(machines_, blobs_, options_);
  std::string why;
  for (const RestoreReport::LeftOut& each : report_.left_out)
    why += "; " + name_of(each.snapshot) + ": " + each.why;
  return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(journal_.first()),
                     "the journal begins here, and no snapshot can be used" + why);
}

base::Result<void> Restoring::replay(kernel::World& world) {
  report_.replayed = 0;
  const auto reader = TRY(journal_.read(world.next_record()));
  while (const auto record = TRY(reader->next())) {
    auto outcome = world.replay(record->bytes);
    if (!outcome) {
      another_may_do_ = is_about_blobs(outcome.error());
      if (!another_may_do_) return std::move(outcome).error();  // it names the record itself
      return std::move(outcome).error().within("record " + std::to_string(record->number));
    }
    ++report_.replayed;
  }
  return {};
}

}  // namespace

base::Result<RestoredWorld> restore(const kernel::MachineSource& machines, kernel::Blobs& blobs,
                                    store::Snapshots& snapshots, store::Journal& journal,
                                    kernel::WorldOptions options) {
  return Restoring(machines, blobs, snapshots, journal, options).run();
}

}  // namespace holdfast::node
