// SPDX-License-Identifier: Apache-2.0
// What the kernel's answers say, as errors for people.
#pragma once

#include <optional>

#include "base/error.h"
#include "kernel/outcome.h"

namespace holdfast::node {

// Why it was not accepted, naming the first of what it lists; nothing: it was, now or before.
std::optional<base::Error> refusal(const kernel::Answer& answer);

}  // namespace holdfast::node
