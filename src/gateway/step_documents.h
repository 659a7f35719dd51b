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
inline constexpr std::size_t kMostRunRecordsRead = 200'000;  // those of pieces included

// The documents of the records of a run, given the last first. Those that only tell progress are
// counted and not kept, so that a run that publishes much is seen from its beginning.
class RunRecords {
 public:
  void add(Bytes record);
  bool is_full() const noexcept {
    return kept_.size() >= kMostRunRecords || bytes_ >= kMostRunBytes ||
           read_ >= kMostRunRecordsRead;
  }
  steps::Execution execution(const steps::Graph& graph, const std::string& workflow,
                             const Bytes& key, const RawInstance& instance) const;

 private:
  std::vector<Bytes> kept_;
  steps::PieceCounts pieces_;
  std::size_t bytes_ = 0;
  std::size_t read_ = 0;
};

// {"workflow", "key", "graph", "execution"}
void put_run(codec::Buffer& out, const RunOfSteps& run);

// kTooLarge: nobody would see anything in it.
base::Result<std::string> draw_graph(const std::string& workflow, const steps::Graph& graph,
                                     steps::DrawingFormat format);
base::Result<std::string> draw_run(const RunOfSteps& run, steps::DrawingFormat format);

// {"workflows", "schemas"}
void put_workflows(codec::Buffer& out, Definitions& definitions);

}  // namespace holdfast::gateway
