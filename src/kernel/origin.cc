// SPDX-License-Identifier: Apache-2.0
// From an intent to the instance that opened it.
#include "kernel/identity.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

void write_origin(const WorldState& world, const base::Hash& hash, const Intent& intent,
                  Origin& origin) {
  origin.intent = hash;
  origin.effect = world.program->effect(intent.effect()).name;
  origin.issuer_ref = intent.issuer_ref();
  origin.opened_at = intent.opened_at();
  if (world.program->workflow(intent.workflow()).has_context)
    origin.params_hash = value_hash(intent.params());
  if (!intent.work) return;
  origin.losses = intent.work->losses;
  if (intent.work->lease) origin.worker = intent.work->lease->worker;
}

Cell* cell_of(WorldState& world, const Intent& intent) {
  Cell* cell = world.cells[intent.workflow()].find(intent.cell());
  if (cell != nullptr && !cell->terminal()) return cell;
  contradiction(world, cell == nullptr ? "an open intent has no instance"
                                       : "an instance that has ended has an open intent");
  return nullptr;
}

Answer unreadable() { return Refused{base::ErrorCode::kIo, "an instance could not be read"}; }

}  // namespace holdfast::kernel
