// SPDX-License-Identifier: Apache-2.0
#include "node/history_changes.h"

#include "codec/json_writer.h"
#include "kernel/forget_list.h"
#include "node/stream_entries.h"
#include "steps/readable.h"

namespace holdfast::node {
namespace {

std::string text_in(codec::View map, std::string_view field) {
  const auto found = map.find(field);
  return std::string(found ? found->text().value_or(std::string_view()) : std::string_view());
}

// As people search for it: entries of step workflows have their events as bytes, in which no word
// can be found. Entries of earlier rules stay as earlier indexes have them.
std::string line_of(base::ByteView annotation) {
  if (!steps::is_newest_entry(annotation)) return codec::to_json(codec::View::of(annotation));
  codec::Buffer readable;
  steps::write_readable_entry(readable, annotation);
  return codec::to_json(codec::View::of(readable.view()));
}

store::InstanceChange change_of(const kernel::RecordView& record, std::size_t index) {
  const kernel::InstanceView& instance = record.instances[index];
  store::InstanceChange change{
      .workflow = std::string(instance.workflow),
      .key = {instance.key.begin(), instance.key.end()},
      .key_text = {},
      .record = record.number,
      .time_ns = record.tick.time_ns,
      .previous = instance.previous,
      .status = std::string(instance.status),
      .paused = instance.paused,
      .error_code = {},
      .error_message = {},
      .keeps_error = false,
      .steps = instance.steps,
      .annotations = {},
  };
  put_error(change, instance.outcome);
  for (const base::ByteView annotation : instance.annotations)
    change.annotations.push_back(line_of(annotation));
  PutOut out = put_out(record, index);
  change.entries = std::move(out.entries);
  change.ended = out.ended;
  return change;
}

// Everybody who is named: whether one really goes is decided by what is known of it, by the same
// rule as in the world.
std::vector<store::InstanceChange> forgets_of(const kernel::RecordView& record,
                                              const kernel::ForgetEnded& forget) {
  std::vector<store::InstanceChange> changes;
  for (const kernel::ForgetName& name :
       kernel::read_forget_list(forget.instances).value_or(std::vector<kernel::ForgetName>())) {
    store::InstanceChange& change = changes.emplace_back();
    change.workflow = std::string(name.workflow);
    change.key = {name.key.begin(), name.key.end()};
    change.record = record.number;
    change.time_ns = record.tick.time_ns;
    change.previous = name.last_record;
    change.forgets = true;
  }
  return changes;
}

}  // namespace

void put_error(store::InstanceChange& change, base::ByteView outcome) {
  const bool is_error = change.status == "failed" || change.status == "cancelled";
  change.keeps_error = is_error && outcome.empty();
  if (!is_error || outcome.empty()) return;
  const codec::View error = codec::View::of(outcome);
  change.error_code = text_in(error, "code");
  change.error_message = text_in(error, "message");
}

std::vector<store::InstanceChange> changes_of(const kernel::RecordView& record) {
  if (const auto* forget = std::get_if<kernel::ForgetEnded>(&record.tick.input))
    return forgets_of(record, *forget);
  std::vector<store::InstanceChange> changes;
  for (std::size_t i = 0; i < record.instances.size(); ++i) changes.push_back(change_of(record, i));
  return changes;
}

}  // namespace holdfast::node
