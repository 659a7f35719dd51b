// SPDX-License-Identifier: Apache-2.0
// What people see of a run of a step workflow: its state and the entries of its stream with values
// as values, names as names, and without what does not apply. docs/api.md has the forms.
#pragma once

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"

namespace holdfast::steps {

// {"status", "deadline_ns"?, "steps", "fan_outs", "store", ...} of a sys/StepsState@1. False: it is
// not a state of this graph, and nothing is written.
bool write_readable_state(codec::Buffer& out, const Graph& graph, base::ByteView state);

// {"kind", ...} of a sys/StepEntry@1.
void write_readable_entry(codec::Buffer& out, base::ByteView entry);

}  // namespace holdfast::steps
