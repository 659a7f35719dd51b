// SPDX-License-Identifier: Apache-2.0
// What a StepProgram holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "holdfast/step_loop.h"
#include "steps/arena.h"
#include "steps/graph.h"

namespace holdfast {

struct StepProgram::Body {
  std::string workflow;
  steps::Graph graph;
  // By the index of the step.
  std::vector<detail::RawHandler> bodies;
  std::vector<std::optional<std::uint64_t>> timeouts_ns;

  // The canonical value of an event from outside; it borrows from the bytes and from the arena. An
  // error: the workflow has no such event, or the value is none.
  Result<base::ByteView> event_of(std::string_view schema, base::ByteView value,
                                  steps::Arena& arena) const;
};

}  // namespace holdfast
