// SPDX-License-Identifier: Apache-2.0
#include "node/unhandled.h"

#include <algorithm>

#include "codec/view.h"
#include "steps/entry_codec.h"
#include "store/record_at.h"

namespace holdfast::node {
namespace {

// A step workflow says of such an event that it is unhandled, and nothing else.
bool says_unhandled(base::ByteView entry) {
  const codec::View view = codec::View::of(entry);
  const auto kind = view.find("kind");
  return kind && kind->text() == steps::word_for(steps::EntryKind::kUnhandled) &&
         view.find("changes") && view.find("elapsed_ns");
}

}  // namespace

bool is_unhandled(const kernel::RecordView& record, const kernel::InstanceView& instance) {
  if (instance.status != "deleted" || instance.previous != 0 || instance.steps != 1) return false;
  if (!instance.opened.empty() || !instance.settled.empty()) return false;
  if (instance.annotations.empty()) return record.emitted.empty();
  return std::ranges::all_of(instance.annotations, says_unhandled);
}

std::string_view status_of(const kernel::RecordView& record, const kernel::InstanceView& instance) {
  return is_unhandled(record, instance) ? std::string_view("unhandled") : instance.status;
}

base::Result<bool> is_unhandled(store::Journal& journal, store::HistoryIndex& index,
                                const store::InstanceRow& row) {
  if (row.status != "deleted" || row.first_record != row.last_record || row.steps > 1) return false;
  if (row.last_record < journal.first()) {
    const auto entries = TRY(index.stream(row.id, 0, 2, 1));
    return std::ranges::all_of(
        entries, [](const store::StreamEntry& entry) { return says_unhandled(entry.value); });
  }
  const auto pinned = journal.pin(row.last_record);
  const base::Bytes bytes = TRY(store::record_at(journal, row.last_record));
  const kernel::RecordView record = TRY(kernel::read_record(bytes));
  bool is_seen = false;
  for (const kernel::InstanceView& instance : record.instances) {
    if (instance.workflow != row.workflow || !base::equal(instance.key, row.key)) continue;
    if (!is_unhandled(record, instance)) return false;
    is_seen = true;
  }
  return is_seen;
}

}  // namespace holdfast::node
