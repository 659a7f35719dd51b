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

// The same for a step workflow that is defined with another graph than the code has now: whether
// the bodies in the code can run its steps. They can if each step is there, takes and returns the
// same, and no event that it is about has changed; steps that are new in the code do not matter.
std::optional<std::string> misfit_of_steps(const defs::Catalogue& compiled,
                                           const defs::WorkflowDef& own,
                                           const defs::Catalogue& defined,
                                           const defs::WorkflowDef& other);

}  // namespace holdfast::native
