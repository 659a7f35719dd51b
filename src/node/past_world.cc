// SPDX-License-Identifier: Apache-2.0
#include "node/past_world.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "node/witnesses.h"

namespace holdfast::node {
namespace {

base::Error not_there(store::RecordNumber record, const std::string& why) {
  return {base::ErrorCode::kNotFound, "record " + std::to_string(record), why};
}

base::Error outside(const PastSource& source, store::RecordNumber record) {
  return not_there(record, "the journal has records " + std::to_string(source.first) + " to " +
                               std::to_string(source.last));
}

// Without the snapshots, which not everybody needs.
PastSource records_of(const store::JournalFiles& journal) {
  PastSource source;
  source.first = journal.first();
  source.last = journal.last();
  source.read = [&journal](store::RecordNumber from) { return journal.read(from); };
  return source;
}

}  // namespace

base::Result<PastSource> PastSource::of(const store::JournalFiles& journal,
                                        store::BlobsLook* stored) {
  PastSource source = records_of(journal);
  if (stored == nullptr) return source;
  source.blob = [stored](const base::Hash& hash) { return stored->get(hash); };
  source.snapshots = TRY(stored->snapshots());
  return source;
}

std::optional<store::RecordNumber> PastSource::first_moment() const {
  if (first == 1) return 0;
  // The record before a snapshot tells its lineage.
  const auto oldest =
      std::ranges::find_if(snapshots.rbegin(), snapshots.rend(),
                           [this](const auto& entry) { return entry.next_record > first; });
  if (oldest == snapshots.rend()) return std::nullopt;
  return oldest->next_record - 1;
}

base::Result<base::Bytes> record_in(const PastSource& source, store::RecordNumber record) {
  if (record < source.first || record > source.last) return outside(source, record);
  const auto reader = TRY(source.read(record));
  const auto found = TRY(reader->next());
  if (!found) return not_there(record, "the journal ends before it");
  return base::Bytes(found->bytes.begin(), found->bytes.end());
}

base::Result<base::Bytes> record_in(const store::JournalFiles& journal,
                                    store::RecordNumber record) {
  return record_in(records_of(journal), record);
}

PastWorld::PastWorld(ScratchBlobs::Get stored, const kernel::MachineSource& machines,
                     std::shared_ptr<PastBudget> budget)
    : machines_(machines),
      budget_(std::move(budget)),
      blobs_(!stored ? ScratchBlobs::Get()
                     : [this, stored = std::move(stored)](
                           const base::Hash& hash) -> base::Result<base::Bytes> {
        TRY(budget_->ask());
        base::Bytes bytes = TRY(stored(hash));
        TRY(budget_->take_bytes(bytes.size(), blobs_.put_bytes()));
        return bytes;
      }),
      world_(std::in_place, machines_, blobs_) {}

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

base::Result<void> PastWorld::begin_with(const PastSource& source,
                                         const store::SnapshotEntry& snapshot) {
  if (snapshot.next_record > 1) {
    const base::Bytes before = TRY(record_in(source, snapshot.next_record - 1));
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

base::Result<void> PastWorld::take(std::size_t bytes) {
  TRY(budget_->ask());
  return budget_->take_bytes(bytes, blobs_.put_bytes());
}

base::Result<void> PastWorld::replay(const PastSource& source, const store::Record& record) {
  if (!source.tolerate) {
    TRY(world_->replay(record.bytes));
    return {};
  }
  auto differences = TRY(world_->replay_comparing(record.bytes));
  if (differences.empty()) return {};
  return source.tolerate(record.number, std::move(differences));
}

base::Result<void> PastWorld::go_on(const PastSource& source, store::RecordNumber record,
                                    const ReplayProgress& progress) {
  // Before the first of them: a way that is too long is not gone in vain.
  if (world_->next_record() <= record) TRY(budget_->check_way(record - world_->next_record() + 1));
  TRY(go_on_until(
      source, record, [](const kernel::World&) { return false; }, progress));
  return {};
}

base::Result<bool> PastWorld::go_on_until(const PastSource& source, store::RecordNumber record,
                                          const Enough& enough, const ReplayProgress& progress) {
  if (enough(*world_)) return true;
  if (world_->next_record() > record) return false;
  const auto reader = TRY(source.read(world_->next_record()));
  while (world_->next_record() <= record) {
    TRY(budget_->ask());
    const auto found = TRY(reader->next());
    if (!found) return not_there(world_->next_record(), "the journal ends before it");
    TRY(budget_->take_record(found->bytes.size(), blobs_.put_bytes()));
    auto replayed = replay(source, *found);
    if (!replayed) return of_blobs(std::move(replayed).error());  // it names the record itself
    ++replayed_;
    if (progress && found->number % kRecordsPerReport == 0) progress(found->number);
    if (enough(*world_)) return true;
  }
  return false;
}

base::Result<void> PastWorld::go_on(const store::JournalFiles& journal, store::RecordNumber record,
                                    const ReplayProgress& progress) {
  return go_on(records_of(journal), record, progress);
}

base::Result<std::unique_ptr<PastWorld>> PastWorld::at(const store::JournalFiles& journal,
                                                       store::BlobsLook* stored,
                                                       const kernel::MachineSource& machines,
                                                       store::RecordNumber record,
                                                       const ReplayProgress& progress) {
  return at(TRY(PastSource::of(journal, stored)), machines, record, {}, progress);
}

base::Result<std::unique_ptr<PastWorld>> PastWorld::at(const PastSource& source,
                                                       const kernel::MachineSource& machines,
                                                       store::RecordNumber record,
                                                       const PastLimits& limits,
                                                       const ReplayProgress& progress) {
  if (record > source.last || record + 1 < source.first) return outside(source, record);
  const auto budget = std::make_shared<PastBudget>(limits);
  std::string why;
  // From the newest; one that cannot be used only means a longer way.
  for (const store::SnapshotEntry& snapshot : source.snapshots) {
    if (snapshot.next_record > record + 1) continue;
    std::unique_ptr<PastWorld> past(new PastWorld(source.blob, machines, budget));
    auto begun = past->begin_with(source, snapshot);
    if (begun) begun = past->go_on(source, record, progress);
    if (begun) return past;
    auto error = past->seen_from_outside(std::move(begun).error());
    if (budget->is_over() || !past->machines_.missing().empty() || !past->another_may_do_)
      return error;
    why += "; " + error.to_string();
  }
  if (source.first != 1) {
    const std::string begins = "the journal begins with record " + std::to_string(source.first);
    if (why.empty()) return not_there(record, begins + ", and there is no snapshot before it");
    return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(record),
                       begins + ", and no snapshot before it can be used" + why);
  }
  std::unique_ptr<PastWorld> past(new PastWorld(source.blob, machines, budget));
  auto gone = past->go_on(source, record, progress);
  if (!gone) return past->seen_from_outside(std::move(gone).error());
  return past;
}

}  // namespace holdfast::node
