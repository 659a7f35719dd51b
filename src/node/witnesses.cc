// SPDX-License-Identifier: Apache-2.0
#include "node/witnesses.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "store/history_index.h"
#include "store/history_look.h"

namespace holdfast::node {
namespace {

base::Error corrupt(std::string where, std::string why) {
  return {base::ErrorCode::kCorrupt, std::move(where), std::move(why)};
}

std::string record_name(store::RecordNumber number) { return "record " + std::to_string(number); }

std::string ends_with(store::RecordNumber last) {
  return ", but the journal ends with record " + std::to_string(last);
}

}  // namespace

std::string name_of(const store::SnapshotEntry& entry) {
  return "the snapshot before record " + std::to_string(entry.next_record);
}

void Witnesses::look_at(store::BlobsLook& stored, base::Errors& errors) {
  auto listed = stored.snapshots();
  if (!listed) {
    errors.push_back(std::move(listed).error());
    return;
  }
  blobs = &stored;
  snapshots = std::move(*listed);
  for (const store::SnapshotEntry& entry : snapshots) {
    auto bytes = stored.get(entry.hash);
    if (!bytes) errors.push_back(std::move(bytes).error().within(name_of(entry)));
  }
}

Witnesses Witnesses::of(store::BlobsLook* blobs, const store::WorldPlace& world,
                        base::Errors& errors) {
  Witnesses found;
  if (blobs != nullptr) found.look_at(*blobs, errors);
  auto history = store::look_at_history(world);
  if (history) {
    found.history = *history;
  } else {
    errors.push_back(std::move(history).error());
  }
  auto seals = store::SealsLook::open(world);
  if (seals) {
    found.seals = std::move(*seals);
  } else {
    errors.push_back(std::move(seals).error());
  }
  return found;
}

void Witnesses::check_range(store::RecordNumber first, store::RecordNumber last,
                            base::Errors& errors) const {
  for (const store::SnapshotEntry& entry : snapshots) {
    if (entry.next_record > last + 1) {
      errors.push_back(corrupt(
          record_name(last + 1),
          "is not there" + ends_with(last) + ": " + name_of(entry) + " was taken when it was"));
    } else if (entry.next_record > 1 && entry.next_record - 1 < first) {
      errors.push_back(corrupt(record_name(entry.next_record - 1),
                               "is not there: " + name_of(entry) +
                                   " needs it, but the journal begins with record " +
                                   std::to_string(first)));
    }
  }
  if (history && history->record > last) {
    errors.push_back(
        corrupt(store::kHistoryFile,
                "has seen record " + std::to_string(history->record) + ends_with(last)));
  }
}

void Witnesses::check_record(const store::Record& record, base::Errors& errors) const {
  const auto is_of = [&](const store::SnapshotEntry& entry) {
    return entry.next_record == record.number + 1;
  };
  const bool is_seen = history && history->record == record.number;
  if (!is_seen && std::ranges::none_of(snapshots, is_of)) return;
  const base::Hash hash = base::sha256(record.bytes);
  for (const store::SnapshotEntry& entry : snapshots) {
    if (is_of(entry) && entry.lineage != hash) {
      errors.push_back(corrupt(record_name(record.number),
                               "is not the one that " + name_of(entry) + " was taken after"));
    }
  }
  // An index that begins where the journal began has seen no record, and has no hash.
  if (is_seen && history->record >= history->begins && history->hash != hash) {
    errors.push_back(corrupt(record_name(record.number), std::string("is not the one that ") +
                                                             store::kHistoryFile + " has seen"));
  }
}

}  // namespace holdfast::node
