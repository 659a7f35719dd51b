// SPDX-License-Identifier: Apache-2.0
// Steps that take several events together. Each event goes to the first set that still needs one of
// its type: the first that came of each type make the first set, the second ones the second. Sets
// are of one fan-out, or of none.
//
// An event that waits in a slot does not keep its fan-out open: the ones it waits for come out of
// the same fan-out, and those do. So one that closes has none left that could complete a set.
#include <algorithm>
#include <optional>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

// Where the event for each slot is, if all are there.
std::optional<std::vector<std::size_t>> find_set(const std::vector<TypeIndex>& slots,
                                                 const std::vector<Held>& held,
                                                 std::uint64_t stream) {
  std::vector<std::size_t> places(slots.size(), kNone);
  std::size_t missing = slots.size();
  for (std::size_t at = 0; at < held.size(); ++at) {
    if (held[at].stream != stream) continue;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (places[slot] != kNone || slots[slot] != held[at].event.type) continue;
      places[slot] = at;
      --missing;
      break;
    }
  }
  if (missing != 0) return std::nullopt;
  return places;
}

}  // namespace

Filled fill_slot(Work& work, StepIndex step, const AddEvent& tick) {
  const std::vector<TypeIndex>& slots = work.graph.step(step).slots;
  if (std::find(slots.begin(), slots.end(), tick.event.type) == slots.end()) return Filled::kNo;
  std::vector<Held>& held = work.state.steps[step].held;
  held.push_back({tick.event, tick.stream, tick.lineage});
  auto places = find_set(slots, held, tick.stream);
  if (!places) return Filled::kHeld;

  std::vector<Event> members;
  Lineage lineage;
  for (const std::size_t at : *places) {
    members.push_back(held[at].event);
    merge(lineage, held[at].lineage);
  }
  std::sort(places->begin(), places->end());
  for (auto at = places->rbegin(); at != places->rend(); ++at)
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(*at));
  dispatch(work, step,
           Attempt{.event = list_of(work, slots.front(), members),
                   .stream = tick.stream,
                   .lineage = std::move(lineage)});
  return Filled::kComplete;
}

void drop_held(Work& work, std::uint64_t stream) {
  for (StepIndex step = 0; step < work.state.steps.size(); ++step) {
    std::erase_if(work.state.steps[step].held, [&](const Held& held) {
      if (held.stream != stream) return false;
      work.publish({.kind = EntryKind::kUnhandled, .step = step, .event = held.event});
      return true;
    });
  }
}

}  // namespace holdfast::steps
