// SPDX-License-Identifier: Apache-2.0
// The instances of a workflow by its name, also of one that the manifest does not have any more.
#pragma once

#include <string_view>

#include "kernel/world_state.h"

namespace holdfast::kernel {

struct NamedCells {
  std::string_view workflow;  // its name, for as long as the tick lasts
  Cells* cells = nullptr;     // null: there never was such a workflow
};

// Those that have the key, if several versions of the workflow have instances.
inline NamedCells cells_named(WorldState& world, std::string_view workflow, const base::Hash& id) {
  if (const auto index = world.program->workflow_named(workflow))
    return {world.program->workflow(*index).name, &world.cells[version_of(world, *index, id)]};
  const auto retired = world.retired.find(workflow);
  if (retired == world.retired.end()) return {};
  return {retired->first, &retired->second};
}

}  // namespace holdfast::kernel
