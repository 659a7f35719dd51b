// SPDX-License-Identifier: Apache-2.0
// NodeSpec: the spec of one node with the template merged in, taken apart. What the dispatcher
// reads (kDispatcherKeys) is checked here and taken out; the rest is handed to the executor as it
// is.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tasks/condition.h"
#include "tasks/policy.h"
#include "tasks/resources.h"

namespace holdfast::tasks {

inline constexpr std::array<std::string_view, 11> kDispatcherKeys{
    "taskType", "resources",    "condition", "priority",   "concurrency", "maxAttempts",
    "timeout",  "queueTimeout", "effects",   "replayable", "preemptible"};

struct NodeSpec {
  std::string type;
  base::Bytes spec;  // for the executor
  Resources resources;
  Policy policy;
  std::optional<Condition> condition;
};

// `types` are the task types there are; nothing: all.
NodeSpec read_node_spec(View merged, const std::optional<std::vector<std::string>>& types,
                        Scene& scene);

}  // namespace holdfast::tasks
