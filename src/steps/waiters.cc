// SPDX-License-Identifier: Apache-2.0
// Steps that wait for an event. A waiter is answered once; its answer stays until the body that
// waited has ended well, as that may run several times before it does.
#include <algorithm>
#include <utility>

#include "codec/view.h"
#include "steps/work.h"

namespace holdfast::steps {
namespace {

// The value under a dotted name.
bool has_field(base::ByteView value, const Requirement& wanted) {
  std::optional<codec::View> at = codec::View::of(value);
  std::string_view left = wanted.field;
  while (at && !left.empty()) {
    const std::size_t dot = std::min(left.find('.'), left.size());
    at = at->find(left.substr(0, dot));
    left.remove_prefix(std::min(dot + 1, left.size()));
  }
  return at && base::equal(at->encoded(), wanted.value);
}

// With what has come before it, if something has; null: nothing has.
const Waiter* answered_early(Work& work, StepIndex step, Waiter& waiter) {
  waiter.resolved = take_early(work, step, waiter);
  if (!waiter.resolved) return nullptr;
  waiter.deadline_ns = 0;
  return &waiter;
}

}  // namespace

bool answers(const Event& event, const Waiter& waiter) {
  return waiter.is_open() && !waiter.child && waiter.type == event.type &&
         std::all_of(waiter.requirements.begin(), waiter.requirements.end(),
                     [&](const Requirement& wanted) { return has_field(event.value, wanted); });
}

// A fresh attempt of the same item, with what it has learned.
void restart_trigger(Work& work, StepIndex step, const Waiter& waiter) {
  Attempt attempt = waiter.trigger;
  attempt.failures = 0;
  attempt.last.reset();
  attempt.first_ns = 0;
  dispatch(work, step, std::move(attempt));
}

bool wake_waiters(Work& work, StepIndex step, const Event& event) {
  bool has_woken = false;
  for (Waiter& waiter : work.state.steps[step].waiters) {
    if (!answers(event, waiter)) continue;
    waiter.resolved = event;
    waiter.deadline_ns = 0;
    restart_trigger(work, step, waiter);
    has_woken = true;
  }
  return has_woken;
}

// One that is open already is replaced in silence, and keeps its deadline.
const Waiter* add_waiter(Work& work, StepIndex step, const Attempt& attempt, const AddWaiter& added,
                         std::uint64_t let_out) {
  std::vector<Waiter>& waiters = work.state.steps[step].waiters;
  const auto found = std::find_if(waiters.begin(), waiters.end(), [&](const Waiter& waiter) {
    return waiter.trigger.item == attempt.item && waiter.id == added.id;
  });
  if (found != waiters.end() && found->is_open()) {
    found->type = added.type;
    found->requirements = added.requirements;
    found->let_out = let_out;
    found->trigger.has_published |= attempt.has_published;
    return answered_early(work, step, *found);
  }
  if (found != waiters.end()) waiters.erase(found);
  Waiter waiter{.id = added.id,
                .type = added.type,
                .requirements = added.requirements,
                .trigger = attempt,
                .let_out = let_out,
                .resolved = std::nullopt};
  if (added.child) {
    waiter.child = Child{.number = ++work.state.last_run,
                         .workflow = added.child->workflow,
                         .key = added.child->key,
                         .schema = added.child->schema,
                         .value = added.child->value,
                         .end = std::nullopt};
  }
  if (added.asks) work.publish({.event = added.asks});
  waiters.push_back(std::move(waiter));
  Waiter& begun = waiters.back();
  if (const Waiter* answered = answered_early(work, step, begun)) return answered;
  if (added.timeout_ns != 0) {
    begun.deadline_ns = after(work.now_ns, added.timeout_ns);
    work.emit(ScheduleWaiterTimeout{step, attempt.item, added.id, begun.deadline_ns});
  }
  return nullptr;
}

void end_item(Work& work, StepIndex step, std::uint64_t item) {
  std::erase_if(work.state.steps[step].waiters,
                [&](const Waiter& waiter) { return waiter.trigger.item == item; });
}

}  // namespace holdfast::steps
