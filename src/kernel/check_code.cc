// SPDX-License-Identifier: Apache-2.0
// Code that does not fit its definition must not meet an instance that goes on.
#include <optional>
#include <string>
#include <utility>

#include "kernel/record_view.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Nothing: the workflow has none that has not ended.
base::Result<std::optional<std::string>> find_active(Cells& cells,
                                                     const WorkflowProgram& workflow) {
  std::optional<std::string> name;
  if (cells.active() == 0) return name;
  TRY(cells.flush());
  name = workflow.name;
  TRY(cells.visit([&](const Cell& cell) {
    if (!cell.terminal()) name = instance_text(workflow.name, cell.key);
    return cell.terminal();
  }));
  return name;
}

}  // namespace

base::Result<void> World::check_code() {
  WorldState& world = *state_;
  if (auto failure = failure_of(world)) return std::move(*failure);
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    const WorkflowProgram& workflow = world.program->workflow(i);
    // Instances of an earlier version wait for their code.
    if (workflow.objection.empty() || workflow.is_pinned) continue;
    auto active = find_active(world.cells[i], workflow);
    // Without room for what was to be put away the world is as it was, and can be asked again.
    if (!active && active.error().code() != base::ErrorCode::kUnavailable) fail(active.error());
    const std::optional<std::string> name = TRY(std::move(active));
    if (name) {
      const std::uint64_t more = world.cells[i].active() - 1;
      return base::Error(
          base::ErrorCode::kConflict, *name,
          "has not ended, and its code does not fit: " + workflow.objection +
              (more == 0 ? ""
                         : "; nor have " + std::to_string(more) + " more of " + workflow.name));
    }
  }
  return {};
}

}  // namespace holdfast::kernel
