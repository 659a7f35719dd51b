// SPDX-License-Identifier: Apache-2.0
#include "node/history_changes.h"

#include "codec/json_writer.h"

namespace holdfast::node {
namespace {

std::string text_in(codec::View map, std::string_view field) {
  const auto found = map.find(field);
  return std::string(found ? found->text().value_or(std::string_view()) : std::string_view());
}

store::InstanceChange change_of(const kernel::RecordView& record,
                                const kernel::InstanceView& instance) {
  store::InstanceChange change{
      .workflow = std::string(instance.workflow),
      .key = {instance.key.begin(), instance.key.end()},
      .key_text = kernel::key_text(instance.key),
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
  const bool is_error = instance.status == "failed" || instance.status == "cancelled";
  change.keeps_error = is_error && instance.outcome.empty();
  if (is_error && !instance.outcome.empty()) {
    const codec::View error = codec::View::of(instance.outcome);
    change.error_code = text_in(error, "code");
    change.error_message = text_in(error, "message");
  }
  for (const base::ByteView annotation : instance.annotations)
    change.annotations.push_back(codec::to_json(codec::View::of(annotation)));
  return change;
}

}  // namespace

std::vector<store::InstanceChange> changes_of(const kernel::RecordView& record) {
  std::vector<store::InstanceChange> changes;
  for (const kernel::InstanceView& instance : record.instances)
    changes.push_back(change_of(record, instance));
  return changes;
}

}  // namespace holdfast::node
