// SPDX-License-Identifier: Apache-2.0
// What a task gets when it is leased: its spec with every reference resolved from the results of
// the tasks before it, which never change. And whether it runs at all.
//
// A text that is nothing but one reference becomes the value, whatever its type. In a longer text
// the value stands as text: a text as it is, everything else as JSON. A reference to a foreach node
// gives the list of its results; the path is followed in each of them, unless it begins with an
// index, which picks one. ${foreach.item} and ${foreach.index} are the task's own element.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "tasks/limits.h"
#include "tasks/task_definition.h"

namespace holdfast::tasks {

struct Outcome {
  codec::View result;
  std::string_view task_id;
};

// The outcomes of tasks that are done.
class Outcomes {
 public:
  virtual ~Outcomes() = default;
  virtual std::optional<Outcome> find(TaskIndex task) const = 0;
};

// A canonical value without tag. Errors name the place in the spec and the reference:
// kNotFound: a value is missing; kUnavailable: a task has no outcome yet; kTooLarge: more than
// `most` bytes, or nested deeper than values may be.
base::Result<base::Bytes> render(const TaskDefinition& task, const Outcomes& outcomes,
                                 std::size_t most = kMaxRenderedBytes);

// Whether the condition of the task holds; true where it has none. A missing field does not hold.
// kUnavailable: as above.
base::Result<bool> condition_holds(const TaskDefinition& task, const Outcomes& outcomes);

// The result of a task that was skipped: {"metadata": {"skipped": true}}.
base::Bytes skipped_result();

}  // namespace holdfast::tasks
