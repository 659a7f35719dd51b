// SPDX-License-Identifier: Apache-2.0
// ScheduleHint: what `metadata.annotations.schedule_hint` says about when and where nodes run.
//
//   node_execution_order: [[a, b], [c]]     epochs: one begins when the one before it is done
//   node_execution_order: [a, b, c]         one epoch
//   node_schedule_in_epoch_order: true      inside an epoch, nodes are dispatched in order
//   (default) selected_worker: w1 | [w1, w2] | {global: ..., selected: {a: ...}}
//
// Epochs name every node exactly once. They bind stages as well as graph nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tasks/dependency_order.h"
#include "tasks/document.h"

namespace holdfast::tasks {

struct NodeSchedule {
  std::optional<std::uint32_t> epoch;
  std::uint32_t position = 0;
  std::vector<std::string> workers;
};

struct ScheduleHint {
  std::vector<NodeSchedule> nodes;  // by number in the document
  std::uint32_t epoch_count = 0;
  bool is_ordered = false;
};

// `dependencies` are by number in the document, too.
ScheduleHint read_schedule_hint(const Document& document, const NameTable& names,
                                const Dependencies& dependencies, Problems& problems);

}  // namespace holdfast::tasks
