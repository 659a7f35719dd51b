// SPDX-License-Identifier: Apache-2.0
// A task graph as a picture, with the states of its tasks.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/where.h"

namespace holdfast::cli {

// With `where.json`, the tasks as the server has them. kTooLarge: it has more tasks than a picture
// can show.
base::Result<ExitCode> draw_tasks(const std::string& graph, const std::string& format,
                                  const Where& where);

}  // namespace holdfast::cli
