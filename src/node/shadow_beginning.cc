// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "kernel/record_view.h"
#include "node/shadow_setting.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;

constexpr RecordNumber kRecordsPerQuestion = 64;

bool applies_definitions(const kernel::Tick& tick) {
  return std::holds_alternative<kernel::ApplyManifest>(tick.input) ||
         std::holds_alternative<kernel::ApplyProposal>(tick.input);
}

// The first record that may be fed at all.
RecordNumber earliest_of(const ShadowSetting& setting) {
  const std::uint64_t most = setting.options.most_records;
  const RecordNumber back = setting.to >= most ? setting.to - most + 1 : 1;
  return std::max(back, setting.source.first);
}

// 0: none from there on.
base::Result<RecordNumber> last_application(const ShadowSetting& setting, RecordNumber from) {
  RecordNumber found = 0;
  if (from > setting.to) return found;
  const auto reader = TRY(setting.source.read(from));
  while (const auto record = TRY(reader->next())) {
    if (record->number > setting.to) break;
    if (record->number % kRecordsPerQuestion == 0) TRY(setting.goes_on());
    if (applies_definitions(TRY(kernel::tick_of(record->bytes)))) found = record->number;
  }
  return found;
}

base::Result<bool> is_application(const ShadowSetting& setting, RecordNumber record) {
  if (record > setting.to) return false;
  const base::Bytes bytes = TRY(record_in(setting.source, record));
  return applies_definitions(TRY(kernel::tick_of(bytes)));
}

// Behind this record, or as soon after it as a snapshot allows.
base::Result<std::unique_ptr<PastWorld>> first_reachable(const ShadowSetting& setting,
                                                         RecordNumber record) {
  auto past = setting.world_at(record);
  if (past || past.error().code() != base::ErrorCode::kNotFound) return past;
  const std::vector<store::SnapshotEntry>& snapshots = setting.source.snapshots;
  for (auto entry = snapshots.rbegin(); entry != snapshots.rend(); ++entry) {
    if (entry->next_record <= record || entry->next_record - 1 > setting.to) continue;
    auto from = setting.world_at(entry->next_record - 1);
    if (from || from.error().code() != base::ErrorCode::kNotFound) return from;
  }
  return past;
}

// The first moment behind this record when nothing was under way.
base::Result<ShadowBeginning> first_rest(const ShadowSetting& setting, RecordNumber behind) {
  const auto past = TRY(first_reachable(setting, behind));
  const bool rests = TRY(past->go_on_until(
      setting.source, setting.to,
      [](const kernel::World& world) { return world.active_instances() == 0; }, setting.progress));
  if (!rests) {
    return base::Error(base::ErrorCode::kConflict,
                       "from record " + std::to_string(behind) + " to " +
                           std::to_string(setting.to) +
                           " something was under way all the time: there is no moment to begin "
                           "the trial with");
  }
  ShadowBeginning beginning{past->world().next_record() - 1, 0};
  if (TRY(is_application(setting, beginning.behind + 1))) beginning.replaced = beginning.behind + 1;
  return beginning;
}

}  // namespace

base::Result<ShadowBeginning> find_beginning(const ShadowSetting& setting) {
  if (setting.source.last < setting.source.first)
    return base::Error(base::ErrorCode::kConflict, "there are no records to try it with");
  const RecordNumber asked = setting.options.from;
  if (asked != 0) return first_rest(setting, asked - 1);
  const RecordNumber earliest = earliest_of(setting);
  const RecordNumber applied = TRY(last_application(setting, earliest));
  if (applied != 0) {
    const auto past = setting.world_at(applied - 1);
    if (past) return ShadowBeginning{applied - 1, applied};
    // What it began with is trimmed; a later moment will do.
    if (past.error().code() != base::ErrorCode::kNotFound) return copy_of(past.error());
  }
  return first_rest(setting, std::max(applied, earliest - 1));
}

}  // namespace holdfast::node
