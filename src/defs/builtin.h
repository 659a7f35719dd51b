// SPDX-License-Identifier: Apache-2.0
// The system's own definitions, sys/...: what every world may use without listing it. The shapes
// are an interface: a change to one is a new version of it.
#pragma once

#include "defs/catalogue.h"

namespace holdfast::defs {

// One for the whole program, compiled at the first call: it is the same each time.
const Catalogue& builtin_catalogue();

}  // namespace holdfast::defs
