// SPDX-License-Identifier: Apache-2.0
// Tasks of a graph as rows of a table, for `tasks` and `watch`.
#pragma once

#include <string>
#include <vector>

#include "codec/view.h"

namespace holdfast::cli {

// "/v1/graphs/nightly"
std::string graph_path(const std::string& graph);

std::vector<std::string> task_heading();
std::vector<std::string> task_row(codec::View task);

// "waits for 2 tasks", "attempt 2 of 3: it broke": what is worth knowing about a task in one line.
std::string task_note(codec::View task);

}  // namespace holdfast::cli
