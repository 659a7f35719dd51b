// SPDX-License-Identifier: Apache-2.0
// Messages as values of a workflow's event type: an event in the arm of its variant, a receipt in
// sys/EffectReceiptEnvelope@1, a rejected one in sys/EffectReceiptRejected@1, progress in
// sys/EffectStreamFrame@1.
#pragma once

#include "codec/buffer.h"
#include "kernel/mail.h"
#include "kernel/program.h"

namespace holdfast::kernel {

// The arm that an event stands for, if it came inside the workflow's variant; null: it did not.
const Arm& arm_of_value(const WorkflowProgram& workflow, base::ByteView value);
inline const Arm* arm_inside(const WorkflowProgram& workflow, std::string_view schema,
                             base::ByteView value) {
  if (workflow.arms.empty() || workflow.event != schema) return nullptr;
  return &arm_of_value(workflow, value);
}

// A value as one that stands alone, as bytes: so it is carried inside another.
void write_alone(codec::Buffer& out, base::ByteView value);

// Canonical, without the self-describe tag. The event type has an arm for the message, or is the
// schema of the event itself: nothing else is delivered.
void write_event(const Program& program, const WorkflowProgram& workflow, base::ByteView key,
                 const Mail& mail, codec::Buffer& out);

}  // namespace holdfast::kernel
