// SPDX-License-Identifier: Apache-2.0
// ScheduleMachine: the code of sys/Schedule@1, which is one schedule, with its name as key.
//
// 1. It asks for due times (sys/schedule.next@1), sets a timer for the next one, and when that
// rings
//    starts an instance for it (sys/workflow.run@1) in the same record that says the due time is
//    decided. So each due time is decided once, whatever is killed when.
// 2. A due time is decided late if the server was down. Those are asked for again and decided
//    together, by the policy for that.
// 3. It runs the instances as its children, so it hears of their ends, counts them, and starts what
//    waited for them.
// 4. Times that are far ahead are asked for again every day: the rules of time zones change.
#pragma once

#include "kernel/machine.h"
#include "schedules/rule.h"

namespace holdfast::schedules {

// A due time is on time up to so much later, whatever the policy for late ones.
inline constexpr std::uint64_t kGraceNs = 30 * kSecondNs;

class ScheduleMachine : public kernel::Machine {
 public:
  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
};

}  // namespace holdfast::schedules
