// SPDX-License-Identifier: Apache-2.0
#include "node/timeline.h"

#include <string>
#include <utility>

#include "store/record_at.h"

namespace holdfast::node {
namespace {

// Where a record speaks of the instance: once for each life, all with the same record before.
std::vector<std::size_t> find(const kernel::RecordView& record, std::string_view workflow,
                              base::ByteView key) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < record.instances.size(); ++i) {
    const kernel::InstanceView& instance = record.instances[i];
    if (instance.workflow == workflow && base::equal(instance.key, key)) found.push_back(i);
  }
  // What is told of a life that had ended before is only that the next one follows it.
  if (found.size() > 1) {
    std::erase_if(found, [&](std::size_t i) {
      const kernel::InstanceView& instance = record.instances[i];
      return i != found.back() && instance.status == "deleted" && instance.steps == 0 &&
             instance.ignored == 0;
    });
  }
  return found;
}

}  // namespace

base::Result<Timeline> timeline(store::Journal& journal, std::string_view workflow,
                                base::ByteView key, store::RecordNumber from,
                                const TimelineLimits& limits) {
  const auto pinned = journal.pin(0);
  RecordSource records;
  records.read = [&](store::RecordNumber number) { return store::record_at(journal, number); };
  records.first = pinned->first();
  auto walk = timeline(records, workflow, key, from, limits);
  if (walk || pinned->holds()) return walk;
  return base::Error(base::ErrorCode::kTooLarge, "record " + std::to_string(records.first),
                     "the journal cannot hold it any longer");
}

base::Result<Timeline> timeline(const RecordSource& records, std::string_view workflow,
                                base::ByteView key, store::RecordNumber from,
                                const TimelineLimits& limits) {
  Timeline walk;
  std::size_t bytes = 0;
  for (walk.next = from; walk.next != 0;) {
    const bool is_full = walk.entries.size() >= limits.records || bytes >= limits.bytes;
    if (is_full && !walk.entries.empty()) return walk;
    auto record = records.read(walk.next);
    if (!record && walk.next < records.first) {
      walk.end = TimelineEnd::kTrimmed;
      return walk;
    }
    const base::Bytes found = TRY(std::move(record));
    const kernel::RecordView view = TRY(kernel::read_record(found));
    const std::vector<std::size_t> lives = find(view, workflow, key);
    if (lives.empty() || view.instances[lives.back()].previous >= walk.next) {
      return base::Error(
          walk.entries.empty() ? base::ErrorCode::kNotFound : base::ErrorCode::kCorrupt,
          "record " + std::to_string(walk.next),
          "does not belong to " + std::string(workflow) + " " + kernel::key_text(key));
    }
    walk.next = view.instances[lives.back()].previous;
    for (auto life = lives.rbegin(); life != lives.rend(); ++life) {
      TimelineEntry entry{found, {}, {}};
      entry.view = TRY(kernel::read_record(entry.record));
      entry.instance = entry.view.instances[*life];
      bytes += entry.record.size();
      walk.entries.push_back(std::move(entry));
    }
  }
  walk.end = TimelineEnd::kBegun;
  return walk;
}

}  // namespace holdfast::node
