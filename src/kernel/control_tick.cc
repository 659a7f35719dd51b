// SPDX-License-Identifier: Apache-2.0
// Cancel, pause and resume of one instance. To cancel or pause one no code is run, of no instance:
// that is how to get hold of a world whose next step would end it.
#include "kernel/cell_codec.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

std::optional<Refused> check_by(std::string_view by) {
  if (is_text(by, kMaxReferenceBytes)) return std::nullopt;
  return Refused{base::ErrorCode::kInvalid, "the name of who asks is too long, or not UTF-8"};
}

Answer reduce_control(WorldState& world, const ControlRequested& request) {
  if (!is_text(request.reason, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the reason is too long, or not UTF-8"};
  if (const auto refused = check_by(request.by)) return *refused;
  const auto workflow = world.program->workflow_named(request.workflow);
  const base::Hash id = key_hash(request.key);
  Cell* cell = workflow ? world.cells[version_of(world, *workflow, id)].find(id) : nullptr;
  if (cell == nullptr) return Refused{base::ErrorCode::kNotFound, "there is no such instance"};
  if (cell->terminal()) return Refused{base::ErrorCode::kConflict, "the instance has ended"};
  switch (request.control) {
    case Control::kCancel:
      // Its end is for its own code: others wait to be told of it.
      if (world.program->workflow(*workflow).is_system) {
        return Refused{base::ErrorCode::kConflict,
                       "a task or graph is cancelled by a request of its own, not as an instance"};
      }
      touch(world, *cell);
      end(world, *cell, Phase::kCancelled, {});
      world.draft.spend_turns();
      return Accepted{};
    case Control::kPause:
      if (cell->paused)
        return Refused{base::ErrorCode::kConflict, "the instance is paused already"};
      touch(world, *cell);
      cell->paused = true;
      stop_waiting(world, name_of(*cell));
      world.draft.spend_turns();
      return Accepted{};
    case Control::kResume:
      if (!cell->paused) return Refused{base::ErrorCode::kConflict, "the instance is not paused"};
      touch(world, *cell);
      cell->paused = false;
      if (!cell->mail.empty() && !cell->ready) line_up(world, *cell);
      return Accepted{};
  }
  return Refused{base::ErrorCode::kInvalid, "unknown control"};
}

}  // namespace holdfast::kernel
