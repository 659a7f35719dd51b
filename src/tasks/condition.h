// SPDX-License-Identifier: Apache-2.0
// Condition: whether a task runs at all (`spec.condition`). The field of an upstream result is
// turned into text and compared. If they differ, or the field is missing, the task is skipped: it
// counts as done, and its dependents run.
#pragma once

#include <optional>
#include <string>

#include "tasks/scene.h"

namespace holdfast::tasks {

struct Condition {
  std::string node;
  std::string field;   // a path into the node's result
  std::string equals;  // as text_of (tasks/reference.h) writes it

  friend bool operator==(const Condition&, const Condition&) = default;
};

// Whether the node exists and is upstream is for the compiler to say.
std::optional<Condition> read_condition(View spec, Scene& scene);

}  // namespace holdfast::tasks
