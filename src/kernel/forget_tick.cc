// SPDX-License-Identifier: Apache-2.0
// Letting go of instances that have ended. To tell whether one was touched since it was named is
// all that is decided here: how long they are kept is for whoever names them. No code is run.
#include "kernel/cell_codec.h"
#include "kernel/forget_list.h"
#include "kernel/named_cells.h"

namespace holdfast::kernel {

Answer reduce_forget(WorldState& world, const ForgetEnded& forget) {
  const auto names = read_forget_list(forget.instances);
  if (!names) {
    return Refused{base::ErrorCode::kInvalid,
                   "what is to be forgotten is no list of 1 to 256 instances"};
  }
  for (const ForgetName& name : *names) {
    const base::Hash id = key_hash(name.key);
    const NamedCells place = cells_named(world, name.workflow, id);
    Cell* cell = place.cells == nullptr ? nullptr : place.cells->find(id);
    if (cell == nullptr || !cell->terminal() || cell->last_record > name.last_record) continue;
    world.draft.add(place.workflow, *cell);
    world.draft.end_life(*cell);
    place.cells->erase(*cell);
  }
  world.draft.spend_turns();
  return Accepted{};
}

}  // namespace holdfast::kernel
