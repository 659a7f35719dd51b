// SPDX-License-Identifier: Apache-2.0
#include "node/stream_entries.h"

namespace holdfast::node {
namespace {

// One that had ended before has no steps any more, and its outcome is not said again. Only a
// control ends an instance that says nothing and runs no code.
bool ends_in(const kernel::RecordView& record, const kernel::InstanceView& instance) {
  if (instance.status == "deleted") return record.kind() != kernel::TickKind::kForget;
  if (!store::is_over(instance.status)) return false;
  const auto* control = std::get_if<kernel::ControlRequested>(&record.tick.input);
  return instance.steps != 0 || !instance.outcome.empty() ||
         (control != nullptr && control->control == kernel::Control::kCancel);
}

// Behind what earlier lives of the same key put out in this record.
std::uint64_t first_place(const kernel::RecordView& record, std::size_t index) {
  const kernel::InstanceView& instance = record.instances[index];
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < index; ++i) {
    const kernel::InstanceView& earlier = record.instances[i];
    if (earlier.status != "deleted" || earlier.workflow != instance.workflow) continue;
    if (base::equal(earlier.key, instance.key)) place += earlier.annotations.size() + 1;
  }
  return place;
}

}  // namespace

PutOut put_out(const kernel::RecordView& record, std::size_t index) {
  const kernel::InstanceView& instance = record.instances[index];
  const bool ends = ends_in(record, instance);
  PutOut out;
  if (instance.annotations.empty() && !ends) return out;
  std::uint64_t place = first_place(record, index);
  for (const base::ByteView annotation : instance.annotations) {
    out.entries.push_back(
        {sequence_of(record.number, place++), {annotation.begin(), annotation.end()}});
  }
  if (ends) out.ended = sequence_of(record.number, place);
  return out;
}

}  // namespace holdfast::node
