// SPDX-License-Identifier: Apache-2.0
#include "node/past_world.h"

#include <utility>

#include "base/sha256.h"
#include "node/witnesses.h"

namespace holdfast::node {
namespace {

constexpr std::uint64_t kRecordsPerReport = 4096;

base::Error not_there(store::RecordNumber record, const std::string& why) {
  return {base::ErrorCode::kNotFound, "record " + std::to_string(record), why};
}

}  // namespace

base::Result<base::Bytes> record_in(const store::JournalFiles& journal,
                                    store::RecordNumber record) {
  if (record < journal.first() || record > journal.last()) {
    return not_there(record, "the journal has records " + std::to_string(journal.first()) + " to " +
                                 std::to_string(journal.last()));
  }
  const auto reader = TRY(journal.read(record));
  const auto found = TRY(reader->next());
  if (!found) return not_there(record, "the journal ends before it");
  return base::Bytes(found->bytes.begin(), found->bytes.end());
}

PastWorld::PastWorld(store::BlobsLook* stored, const kernel::MachineSource& machines)
    : machines_(machines), blobs_(stored), world_(std::in_place, machines_, blobs_) {}

// What comes out differently for want of code says nothing against the journal.
base::Error PastWorld::seen_from_outside(base::Error error) const {
  if (machines_.missing().empty()) return error;
  return {base::ErrorCode::kConflict, "this program has no code for " + machines_.missing()};
}

base::Error PastWorld::of_blobs(base::Error error) {
  another_may_do_ =
      error.code() == base::ErrorCode::kNotFound || error.code() == base::ErrorCode::kCorrupt;
  return error;
}

base::Result<void> PastWorld::begin_with(const store::JournalFiles& journal,
                                         const store::SnapshotEntry& snapshot) {
  if (snapshot.next_record > 1) {
    const base::Bytes before = TRY(record_in(journal, snapshot.next_record - 1));
    if (base::sha256(before) != snapshot.lineage) {
      return base::Error(base::ErrorCode::kCorrupt, name_of(snapshot),
                         "was taken after another record than the journal has there");
    }
  }
  auto bytes = blobs_.get(snapshot.hash);
  if (!bytes) return of_blobs(std::move(bytes).error().within(name_of(snapshot)));
  auto restored = kernel::World::restore(machines_, blobs_, *bytes);
  if (!restored) return of_blobs(std::move(restored).error().within(name_of(snapshot)));
  if (restored->next_record() != snapshot.next_record) {
    another_may_do_ = true;
    return base::Error(base::ErrorCode::kCorrupt, name_of(snapshot),
                       "says that it is before record " + std::to_string(restored->next_record()));
  }
  world_ = std::move(*restored);
  begun_with_ = snapshot;
  return {};
}

base::Result<void> PastWorld::go_on(const store::JournalFiles& journal, store::RecordNumber record,
                                    const ReplayProgress& progress) {
  if (world_->next_record() > record) return {};
  const auto reader = TRY(journal.read(world_->next_record()));
  while (world_->next_record() <= record) {
    const auto found = TRY(reader->next());
    if (!found) return not_there(world_->next_record(), "the journal ends before it");
    auto replayed = world_->replay(found->bytes);
    if (!replayed) return of_blobs(std::move(replayed).error());  // it names the record itself
    ++replayed_;
    if (progress && found->number % kRecordsPerReport == 0) progress(found->number);
  }
  return {};
}

base::Result<std::unique_ptr<PastWorld>> PastWorld::at(const store::JournalFiles& journal,
                                                       store::BlobsLook* stored,
                                                       const kernel::MachineSource& machines,
                                                       store::RecordNumber record,
                                                       const ReplayProgress& progress) {
  if (record > journal.last() || record + 1 < journal.first()) {
    return not_there(record, "the journal has records " + std::to_string(journal.first()) + " to " +
                                 std::to_string(journal.last()));
  }
  std::vector<store::SnapshotEntry> snapshots;
  if (stored != nullptr) snapshots = TRY(stored->snapshots());
  std::string why;
  // From the newest; one that cannot be used only means a longer way.
  for (const store::SnapshotEntry& snapshot : snapshots) {
    if (snapshot.next_record > record + 1) continue;
    std::unique_ptr<PastWorld> past(new PastWorld(stored, machines));
    auto begun = past->begin_with(journal, snapshot);
    if (begun) begun = past->go_on(journal, record, progress);
    if (begun) return past;
    auto error = past->seen_from_outside(std::move(begun).error());
    if (!past->machines_.missing().empty() || !past->another_may_do_) return error;
    why += "; " + error.to_string();
  }
  if (journal.first() != 1) {
    const std::string begins = "the journal begins with record " + std::to_string(journal.first());
    if (why.empty()) return not_there(record, begins + ", and there is no snapshot before it");
    return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(record),
                       begins + ", and no snapshot before it can be used" + why);
  }
  std::unique_ptr<PastWorld> past(new PastWorld(stored, machines));
  auto gone = past->go_on(journal, record, progress);
  if (!gone) return past->seen_from_outside(std::move(gone).error());
  return past;
}

}  // namespace holdfast::node
