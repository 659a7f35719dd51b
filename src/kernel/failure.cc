// SPDX-License-Identifier: Apache-2.0
// Why a world has failed.
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

base::Error copy(const base::Error& error) {
  return {error.code(), error.where(), error.message()};
}

}  // namespace

std::optional<base::Error> failure_of(const WorldState& world) {
  if (world.failure) return copy(*world.failure);
  if (world.intents.failure()) return copy(*world.intents.failure());
  if (world.event_ids.failure()) return copy(*world.event_ids.failure());
  for (const EventSource& source : world.sources) {
    if (source.ids.failure()) return copy(*source.ids.failure());
  }
  for (const Cells& cells : world.cells) {
    if (cells.failure()) return copy(*cells.failure());
  }
  for (const auto& [name, cells] : world.retired) {
    if (cells.failure()) return copy(*cells.failure());
  }
  return std::nullopt;
}

std::optional<base::Error> take_failure(WorldState& world) {
  auto failure = failure_of(world);
  if (!failure) return failure;
  world.failure.reset();
  world.intents.forget_failure();
  for (Cells& cells : world.cells) cells.forget_failure();
  for (auto& [name, cells] : world.retired) cells.forget_failure();
  return failure;
}

void World::fail(const base::Error& error) {
  if (!failure_of(*state_)) state_->failure = copy(error);
}

void contradiction(WorldState& world, std::string_view what) {
  // What could not be read is the reason for what does not fit.
  if (!failure_of(world)) world.failure = corrupt(what);
}

}  // namespace holdfast::kernel
