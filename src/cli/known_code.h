// SPDX-License-Identifier: Apache-2.0
// The workflows whose code is in this program.
#pragma once

#include "native/machines.h"

namespace holdfast::cli {

native::Machines known_code();

}  // namespace holdfast::cli
