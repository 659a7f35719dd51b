// SPDX-License-Identifier: Apache-2.0
#include "store/journal_witness.h"

#include <algorithm>
#include <optional>

#include "store/blobs_look.h"
#include "store/history_index.h"
#include "store/history_look.h"
#include "store/seals.h"

namespace holdfast::store {
namespace {

base::Result<RecordNumber> last_indexed(const WorldPlace& place) {
  const auto cursor = TRY(look_at_history(place));
  // One that has seen nothing since it was begun says only where the journal began.
  return cursor && cursor->record >= cursor->begins ? cursor->record : 0;
}

base::Result<RecordNumber> last_sealed(const WorldPlace& place) {
  const auto last = TRY(look_at_last_seal(place));
  return last ? last->last : 0;
}

base::Result<RecordNumber> last_in_a_snapshot(const WorldPlace& place) {
  const auto blobs = TRY(BlobsLook::open(place));
  RecordNumber last = 0;
  if (!blobs) return last;
  for (const SnapshotEntry& entry : TRY(blobs->snapshots()))
    last = std::max(last, entry.next_record - 1);
  return last;
}

}  // namespace

JournalWitness newest_witness(const WorldFolder& world) {
  const WorldPlace place = WorldPlace::of(world);
  JournalWitness newest;
  const auto hear = [&](const char* file, const base::Result<RecordNumber>& known) {
    if (known && *known > newest.record) newest = {*known, world.path() + "/" + file};
  };
  hear(kHistoryFile, last_indexed(place));
  hear(kSealsFile, last_sealed(place));
  hear(kKernelBlobs, last_in_a_snapshot(place));
  return newest;
}

std::string describe_lost_records(const WorldFolder& world, RecordNumber last) {
  const JournalWitness witness = newest_witness(world);
  if (witness.record <= last) return {};
  return "the journal ends with record " + std::to_string(last) + ", but " + witness.path +
         " knows record " + std::to_string(witness.record) +
         ", which was acknowledged and is lost. Keep this folder as it is, and restore a backup "
         "into "
         "another (holdfast restore BACKUP NEW), or make a new world of the records that are left "
         "(holdfast salvage " +
         world.path() + " NEW)";
}

}  // namespace holdfast::store
