// SPDX-License-Identifier: Apache-2.0
// The graph of a step workflow out of what its types say.
#pragma once

#include <string>
#include <string_view>

#include "base/errors.h"
#include "defs/catalogue.h"
#include "holdfast/detail/flow.h"
#include "steps/graph.h"

namespace holdfast::native {

// With a catalogue: values are held against its schemas, as far as it has them.
steps::Graph graph_of(const detail::Flow& flow, const defs::Catalogue* catalogue = nullptr);

// Whether it can run.
void check_flow(const detail::Flow& flow, base::Errors& errors);

// The workflow and the digest of its graph, and the workflow of such an entry point.
std::string entrypoint_of(const detail::Flow& flow);
std::string_view workflow_of(std::string_view entrypoint);

}  // namespace holdfast::native
