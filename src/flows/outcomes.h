// SPDX-License-Identifier: Apache-2.0
// What nodes end with.
#pragma once

#include <string>
#include <string_view>

#include "flows/program.h"
#include "flows/run.h"
#include "kernel/machine.h"

namespace holdfast::flows {

inline constexpr std::size_t kMaxMessageBytes = 2048;

Outcome succeeded(base::Bytes value);
Outcome succeeded_with_null();
Outcome failed(std::string code, std::string_view message);

// Of an effect that did not succeed.
Outcome failed_with(const kernel::Mail& mail);

base::Bytes null_value();
base::Bytes empty_list();
base::Bytes signal_value(std::string_view name, base::ByteView data, bool timed_out);
base::Bytes error_value(const Outcome& failed);  // {"code", "message"}

// Completes the flow.
void write_result(kernel::StepOutput& output, Run& run, base::ByteView value);

// Whether a node of this kind may have an effect of its own.
bool opens_effects(NodeKind kind) noexcept;

}  // namespace holdfast::flows
