// SPDX-License-Identifier: Apache-2.0
// The system's own schemas that code knows by name; defs/builtin.h has all of them.
#pragma once

#include <array>
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
inline constexpr std::string_view kStepEntry = "sys/StepEntry@2";
inline constexpr std::string_view kStepEntry1 = "sys/StepEntry@1";  // of earlier definitions
inline constexpr std::string_view kStepFailed = "sys/StepFailed@1";
inline constexpr std::string_view kGraphWorkflow = "sys/Graph@1";
inline constexpr std::string_view kTaskWorkflow = "sys/Task@1";
inline constexpr std::string_view kTaskCheck = "sys/task.check@1";
inline constexpr std::string_view kFlowWorkflow = "sys/Flow@1";
inline constexpr std::string_view kSqlRun = "sys/sql.run@1";
inline constexpr std::string_view kHttpRequest = "sys/http.request@2";
inline constexpr std::string_view kScheduleWorkflow = "sys/Schedule@1";
inline constexpr std::string_view kScheduleNext = "sys/schedule.next@1";

// The system's own workflows: every world has those that its program has code for, behind the
// workflows of its manifest. The order is part of the format of snapshots; new ones go to the end.
inline constexpr std::array<std::string_view, 4> kSystemWorkflows{kGraphWorkflow, kTaskWorkflow,
                                                                  kFlowWorkflow, kScheduleWorkflow};

// Events of the system's own workflows name the instance that they are for in this field.
inline constexpr std::string_view kSystemKeyField = "key";

}  // namespace holdfast::defs
