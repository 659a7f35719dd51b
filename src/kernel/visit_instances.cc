// SPDX-License-Identifier: Apache-2.0
// Looking at all instances, for whoever lists them.
#include <utility>

#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// What was lost when it was written is the world's trouble; what cannot be read, or finds no room
// on a full disk, is the question's.
base::Result<void> visit(WorldState& world, const World::InstanceVisitor& visitor) {
  bool goes_on = true;
  const auto visit_cells = [&](std::string_view workflow, Cells& cells) -> base::Result<void> {
    if (auto flushed = cells.flush(); !flushed) {
      if (flushed.error().code() != base::ErrorCode::kUnavailable)
        world.failure =
            base::Error(flushed.error().code(), flushed.error().where(), flushed.error().message());
      return flushed;
    }
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
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  auto visited = visit(*state_, visitor);
  trim(*state_);
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  return visited;
}

std::uint64_t World::active_instances() const noexcept {
  std::uint64_t count = 0;
  for (const Cells& cells : state_->cells) count += cells.active();
  return count;
}

}  // namespace holdfast::kernel
