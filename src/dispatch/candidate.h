// SPDX-License-Identifier: Apache-2.0
// Candidate: a worker as the dispatcher sees it: what it offers, what of it is in use, and whether
// it can be given work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/demand.h"
#include "dispatch/offer.h"

namespace holdfast::dispatch {

enum class Mode : std::uint8_t { kActive, kDraining, kCordoned, kLost, kLeft };

// What a worker with a registry says of recipes (docs/worker-protocol.md, "Recipes").
struct RecipeState {
  std::vector<std::string> serving = {};  // in order
  std::string swapping = {};              // the recipe that is being swapped in; empty: none
  bool can_swap = false;                  // to any recipe that it offers
  std::string problem = {};               // why its last swap was not done; empty: it was

  friend bool operator==(const RecipeState&, const RecipeState&) = default;
};

struct Candidate {
  std::string id;
  std::string node;
  std::string name;
  Offer offer;
  Mode mode = Mode::kActive;
  bool is_live = false;    // it was heard within its TTL
  std::uint32_t want = 0;  // tasks that it asks for now

  // In use, by leases and by choices that are being recorded.
  std::uint32_t used_slots = 0;
  std::uint64_t used_cpu_milli = 0;
  std::uint64_t used_memory_bytes = 0;
  std::vector<std::uint32_t> used_devices = {};  // indexes, in order

  std::uint64_t last_chosen = 0;  // the number of the choice; 0: never

  std::optional<RecipeState> recipes = {};  // nothing: it serves all recipes that it offers
  std::string asked_for = {};               // the recipe that it is asked to swap to; empty: none
  std::uint32_t used_recipes = 0;           // tasks in use that need a recipe

  bool may_work() const noexcept { return mode == Mode::kActive && is_live; }
  // Now. The offer says what it could serve.
  bool serves(const std::string& recipe) const;
};

// The first thing that keeps a worker from ever running a task: what does not fit.
enum class Misfit : std::uint8_t {
  kNone,
  kMode,  // cordoned, draining, lost, left
  kSilent,
  kSelected,
  kQueue,
  kType,
  kLabel,
  kRecipe,
  kCpu,
  kMemory,
  kDevices,
  kAvoided,  // it failed this task before
};

// What it lacks at this moment only.
enum class Lack : std::uint8_t { kNone, kRecipe, kSlots, kCpu, kMemory, kDevices, kPoll };

// By what it offers alone, whatever its mode.
Misfit misfit_of_offer(const Demand& demand, const Candidate& worker);
// The same, and whether it may work at all.
Misfit misfit_of(const Demand& demand, const Candidate& worker);
// Of a worker that fits.
Lack lack_of(const Demand& demand, const Candidate& worker);

// The devices that a task would get: the free ones that fit, those with the least memory first,
// then by index. Fewer than it asks for: there are not enough.
std::vector<std::uint32_t> pick_devices(const Demand& demand, const Candidate& worker);

// One sentence for people: "needs 4 processors, has 2".
std::string describe(Misfit misfit, const Demand& demand, const Candidate& worker);
std::string describe(Lack lack, const Demand& demand, const Candidate& worker);

}  // namespace holdfast::dispatch
