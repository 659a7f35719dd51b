// SPDX-License-Identifier: Apache-2.0
// Why an instance has not ended, for people and programs: {"sentence", "reasons", ...}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/buffer.h"
#include "codec/time_text.h"
#include "holdfast/engine.h"
#include "holdfast/graphs.h"
#include "steps/reasons.h"

namespace holdfast::workers {
class Desk;
}

namespace holdfast::gateway {

// With what a run of steps says of itself (nothing: it is none). Timers of the kernel are then left
// out, as they only wake it for what stands here by its name. Without reasons it has ended, and the
// sentence says how. `version`: that it goes on with, if that is an earlier one.
void put_why(codec::Buffer& out, const RawInstance& instance,
             const std::vector<WaitReason>& reasons, const std::vector<steps::Reason>& of_steps,
             const workers::Desk* desk = nullptr,
             const std::optional<KeptVersion>& version = std::nullopt);

// The same for a task that waits for others.
void put_why(codec::Buffer& out, const TaskWaits& waits);

inline constexpr std::size_t kMostStepReasons = 1000;  // that are listed

using codec::time_text;

}  // namespace holdfast::gateway
