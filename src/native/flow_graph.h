// SPDX-License-Identifier: Apache-2.0
// The graph of a step workflow out of what its types say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "defs/catalogue.h"
#include "holdfast/detail/flow.h"
#include "steps/graph.h"

namespace holdfast::native {

using steps::Rules;

// By the rules of today, or by those of definitions that earlier programs applied, under which the
// same bodies can go on. With a catalogue: values are held against its schemas, as far as it has
// them.
steps::Graph graph_of(const detail::Flow& flow, const defs::Catalogue* catalogue = nullptr,
                      Rules rules = steps::kNewestRules);

// Whether it can run.
void check_flow(const detail::Flow& flow, base::Errors& errors);

// The workflow and the digest of its graph, and the workflow of such an entry point.
std::string entrypoint_of(const detail::Flow& flow, Rules rules = steps::kNewestRules);
std::string_view workflow_of(std::string_view entrypoint);

// The graph as it stands in the definition of the workflow: canonical, and as JSON.
base::Bytes graph_bytes(const detail::Flow& flow, Rules rules = steps::kNewestRules);
std::string graph_json(const detail::Flow& flow);

// The graph in a definition, if it is there, can be read, and is the one that its entry point
// names. Values are held against the schemas of the catalogue.
std::optional<steps::Graph> graph_in(const defs::WorkflowDef& workflow,
                                     const defs::Catalogue& catalogue);

}  // namespace holdfast::native
