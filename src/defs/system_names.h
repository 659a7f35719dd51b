// SPDX-License-Identifier: Apache-2.0
// The system's own schemas that code knows by name; defs/builtin.h has all of them.
#pragma once

#include <string_view>

namespace holdfast::defs {

inline constexpr std::string_view kWorkflowContext = "sys/WorkflowContext@1";
inline constexpr std::string_view kReceiptEnvelope = "sys/EffectReceiptEnvelope@1";
inline constexpr std::string_view kReceiptRejected = "sys/EffectReceiptRejected@1";
inline constexpr std::string_view kStreamFrame = "sys/EffectStreamFrame@1";
inline constexpr std::string_view kEffectError = "sys/EffectError@1";
inline constexpr std::string_view kTimerSet = "sys/timer.set@1";
inline constexpr std::string_view kWorkflowRun = "sys/workflow.run@1";
inline constexpr std::string_view kWorkflowStop = "sys/workflow.stop@1";
inline constexpr std::string_view kTaskRun = "sys/task.run@1";
inline constexpr std::string_view kStepsState = "sys/StepsState@1";
inline constexpr std::string_view kStepRun = "sys/StepRun@1";
inline constexpr std::string_view kStepRan = "sys/StepRan@1";
inline constexpr std::string_view kStepEntry = "sys/StepEntry@1";
inline constexpr std::string_view kStepFailed = "sys/StepFailed@1";

}  // namespace holdfast::defs
