// SPDX-License-Identifier: Apache-2.0
// Whether a graph can run at all, found out before the first run. All that is wrong is reported,
// with the step or the event where it is.
#pragma once

#include "base/errors.h"
#include "steps/graph.h"

namespace holdfast::steps {

void check_graph(const Graph& graph, base::Errors& errors);

}  // namespace holdfast::steps
