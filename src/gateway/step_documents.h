// SPDX-License-Identifier: Apache-2.0
// What is answered about step workflows and their runs: documents and pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/buffer.h"
#include "gateway/definitions.h"
#include "holdfast/engine.h"
#include "steps/draw.h"
#include "steps/execution.h"

namespace holdfast::gateway {

// The graph of a workflow. kNotFound: the manifest has no such workflow, or it is none of steps, or
// its definition is of before graphs were part of definitions.
base::Result<const steps::Graph*> find_graph(Definitions& definitions, const std::string& workflow);

// {"workflow", "graph"}
void put_graph(codec::Buffer& out, std::string_view workflow, const steps::Graph& graph);

// One run, with its name and what its records say.
struct RunOfSteps {
  std::string workflow;
  Bytes key;  // empty: none
  steps::Graph graph;
  steps::Execution execution;
};

// So much of what happened to a run is looked at; what was before counts as not there.
inline constexpr std::size_t kMostRunRecords = 10'000;
inline constexpr std::size_t kMostRunBytes = std::size_t{32} << 20;

// Out of the documents of its records, the last first.
steps::Execution execution_of(const steps::Graph& graph, const std::string& workflow,
                              const Bytes& key, const std::vector<Bytes>& records,
                              const RawInstance& instance);

// {"workflow", "key", "graph", "execution"}
void put_run(codec::Buffer& out, const RunOfSteps& run);

// kTooLarge: nobody would see anything in it.
base::Result<std::string> draw_graph(const std::string& workflow, const steps::Graph& graph,
                                     steps::DrawingFormat format);
base::Result<std::string> draw_run(const RunOfSteps& run, steps::DrawingFormat format);

// {"workflows", "schemas"}
void put_workflows(codec::Buffer& out, Definitions& definitions);

}  // namespace holdfast::gateway
