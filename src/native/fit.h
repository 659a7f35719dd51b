// SPDX-License-Identifier: Apache-2.0
// Whether compiled code can step a workflow as a world defines it. Structs read and write exactly
// the types that they were compiled with: a state, an event, a receipt of any other type would fail
// the instance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "defs/catalogue.h"

namespace holdfast::native {

// What differs first between the workflow that was compiled and the one that is defined; nothing:
// what matters to the code is the same. Who performs an effect does not matter to it.
std::optional<std::string> misfit(const defs::Catalogue& compiled, const defs::WorkflowDef& own,
                                  const std::vector<std::string>& emits,
                                  const defs::Catalogue& defined, const defs::WorkflowDef& other);

}  // namespace holdfast::native
