// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "holdfast/step_adapter.h"

namespace holdfast {

// Whatever happens makes it busy, be it for a moment in which nobody waits.
Result<Done> IdleRelease::journal(const StepInput& input) {
  auto journaled = StepDecorator::journal(input);
  if (journaled && input.kind != StepInput::Kind::kIdle) idle_since_.reset();
  return journaled;
}

StepNext IdleRelease::wait_for_next(const StepWait& wait) {
  if (!wait.is_idle) {
    idle_since_.reset();
    return StepDecorator::wait_for_next(wait);
  }
  const Time now = this->now();
  if (!idle_since_) idle_since_ = now;
  const bool is_far = *idle_since_ > Time::max() - after_;
  const Time release_at = is_far ? Time::max() : *idle_since_ + after_;
  if (now >= release_at) {
    idle_since_.reset();
    return StepNext::kRelease;
  }
  return StepDecorator::wait_for_next(
      {wait.until ? std::min(*wait.until, release_at) : release_at, true});
}

}  // namespace holdfast
