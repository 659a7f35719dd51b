// SPDX-License-Identifier: Apache-2.0
// How commands name one task: GRAPH/NAME or GRAPH/NUMBER; GRAPH alone if it has only one task.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/server_api.h"

namespace holdfast::cli {

struct NamedTask {
  std::string graph = {};
  std::uint64_t number = 0;

  std::string text() const { return graph + "/" + std::to_string(number); }
  std::string path() const;  // "/v1/graphs/nightly/tasks/3"
};

// Asks the server where the task has a name. kNotFound: the graph has no such task.
base::Result<NamedTask> find_task(const ServerApi& api, const std::string& text);

}  // namespace holdfast::cli
