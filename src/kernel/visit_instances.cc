// SPDX-License-Identifier: Apache-2.0
// Looking at all instances, for whoever lists them.
#include <utility>

#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

base::Result<void> visit(WorldState& world, const World::InstanceVisitor& visitor) {
  bool goes_on = true;
  const auto visit_cells = [&](std::string_view workflow, Cells& cells) -> base::Result<void> {
    TRY(cells.flush());
    return cells.visit([&](const Cell& cell) { return goes_on = visitor(workflow, cell); });
  };
  for (std::uint32_t i = 0; i < world.cells.size() && goes_on; ++i)
    TRY(visit_cells(world.program->workflow(i).name, world.cells[i]));
  for (auto& [name, cells] : world.retired) {
    if (goes_on) TRY(visit_cells(name, cells));
  }
  return {};
}

}  // namespace

base::Result<void> World::visit_instances(const InstanceVisitor& visitor) {
  auto visited = visit(*state_, visitor);
  if (!visited && !failure_of(*state_)) state_->failure = std::move(visited).error();
  trim(*state_);
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return {};
}

std::uint64_t World::active_instances() const noexcept {
  std::uint64_t count = 0;
  for (const Cells& cells : state_->cells) count += cells.active();
  return count;
}

}  // namespace holdfast::kernel
