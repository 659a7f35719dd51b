// SPDX-License-Identifier: Apache-2.0
#include "node/timeline.h"

#include <string>
#include <utility>

#include "store/record_at.h"

namespace holdfast::node {
namespace {

// The last one, if there are two: an instance that was deleted and began again in one record goes
// on as the new one.
const kernel::InstanceView* find(const kernel::RecordView& record, std::string_view workflow,
                                 base::ByteView key) {
  const kernel::InstanceView* found = nullptr;
  for (const kernel::InstanceView& instance : record.instances) {
    if (instance.workflow == workflow && base::equal(instance.key, key)) found = &instance;
  }
  return found;
}

}  // namespace

base::Result<Timeline> timeline(store::Journal& journal, std::string_view workflow,
                                base::ByteView key, store::RecordNumber from,
                                const TimelineLimits& limits) {
  Timeline walk;
  std::size_t bytes = 0;
  for (walk.next = from; walk.next != 0;) {
    const bool is_full = walk.entries.size() == limits.records || bytes >= limits.bytes;
    if (is_full && !walk.entries.empty()) return walk;
    auto record = store::record_at(journal, walk.next);
    if (!record && walk.next < journal.first()) {
      walk.end = TimelineEnd::kTrimmed;
      return walk;
    }
    TimelineEntry entry{TRY(std::move(record)), {}, {}};
    entry.view = TRY(kernel::read_record(entry.record));
    const kernel::InstanceView* const instance = find(entry.view, workflow, key);
    if (instance == nullptr || instance->previous >= walk.next) {
      return base::Error(
          walk.entries.empty() ? base::ErrorCode::kNotFound : base::ErrorCode::kCorrupt,
          "record " + std::to_string(walk.next),
          "does not belong to " + std::string(workflow) + " " + kernel::key_text(key));
    }
    entry.instance = *instance;
    walk.next = instance->previous;
    bytes += entry.record.size();
    walk.entries.push_back(std::move(entry));
  }
  walk.end = TimelineEnd::kBegun;
  return walk;
}

}  // namespace holdfast::node
