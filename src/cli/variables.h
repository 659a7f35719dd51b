// SPDX-License-Identifier: Apache-2.0
// Which variables of the environment that begin with HOLDFAST_ there may be: one that is spelt
// wrongly would otherwise be one that nobody heeds.
#pragma once

#include <string_view>

#include "base/result.h"

namespace holdfast::cli {

// `secrets`: those that definitions may name as secrets, with commas; they may be called anything.
// kInvalid: there is one that nobody knows.
base::Result<void> check_variables(std::string_view secrets);

}  // namespace holdfast::cli
