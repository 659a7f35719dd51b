// SPDX-License-Identifier: Apache-2.0
// Handlers as functions that an executor calls.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "executors/functions.h"
#include "holdfast/handler.h"

namespace holdfast::engine {

using FunctionsByEffect = std::map<std::string, executors::Function, std::less<>>;

// kInvalid: two handle one effect, or one handles what this engine performs by itself.
base::Result<FunctionsByEffect> functions_of(std::vector<Handler> handlers);

}  // namespace holdfast::engine
