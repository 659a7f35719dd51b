// SPDX-License-Identifier: Apache-2.0
// Events that come before somebody waits for them. Whoever answers cannot know how far a body has
// come: it may be on its way to its wait, or run again for the answer before. So while some body
// may still come to a wait by itself an event that nobody takes is kept, in order; a wait that
// begins looks there first. When none can, or the run is over, what is left is told, as what comes
// then.
#include <algorithm>

#include "steps/weight.h"
#include "steps/work.h"

namespace holdfast::steps {
namespace {

// So much is kept of what may be of no use.
constexpr std::size_t kMaxEarly = 256;
constexpr std::size_t kMaxEarlyBytes = std::size_t{64} << 10;

bool has_room(const std::vector<Early>& kept, const Event& event) {
  std::size_t bytes = weight(event);
  for (const Early& early : kept) bytes += weight(early.event);
  return kept.size() < kMaxEarly && bytes <= kMaxEarlyBytes;
}

void tell(Work& work, const Event& event, std::optional<StepIndex> target) {
  work.publish({.kind = EntryKind::kUnhandled,
                .step = target,
                .event = event,
                .is_idle = work.state.is_idle()});
}

}  // namespace

// Also in a run that is idle by its state: this tick may not be the last of its message.
void keep_early(Work& work, const AddEvent& tick) {
  State& state = work.state;
  if (!work.graph.has(Rules::kKeepsEarly) || !state.is_running ||
      !has_room(state.early, tick.event))
    return tell(work, tick.event, tick.target);
  state.early.push_back({tick.event, tick.target});
}

std::optional<Event> take_early(Work& work, StepIndex step, const Waiter& waiter) {
  std::vector<Early>& early = work.state.early;
  const bool all = !work.graph.has(Rules::kTellsAttempts);
  const auto found = std::find_if(early.begin(), early.end(), [&](const Early& one) {
    return (all || !one.target || *one.target == step) && answers(one.event, waiter);
  });
  if (found == early.end()) return std::nullopt;
  const Event event = found->event;
  early.erase(found);
  return event;
}

void tell_early(Work& work) {
  for (const Early& early : work.state.early) tell(work, early.event, early.target);
  work.state.early.clear();
}

void reduce_tell_early(Work& work) {
  if (!work.state.goes_on_by_itself()) tell_early(work);
}

}  // namespace holdfast::steps
