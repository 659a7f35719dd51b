// SPDX-License-Identifier: Apache-2.0
// What native modules define, loaded and checked like any other definitions.
#pragma once

#include <span>

#include "defs/load.h"
#include "holdfast/module.h"

namespace holdfast::native {

// A bundle with a manifest of everything in the modules.
defs::Bundle load(std::span<const Module> modules, const defs::Catalogue* below);

// The same where no world is: the workflows that are run by those in them need not be there.
defs::Bundle load_without_children(std::span<const Module> modules, const defs::Catalogue* below);

}  // namespace holdfast::native
