// SPDX-License-Identifier: Apache-2.0
#include "gateway/step_documents.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "codec/key_word.h"
#include "codec/view.h"
#include "gateway/documents.h"
#include "steps/graph_codec.h"

namespace holdfast::gateway {

base::Result<const steps::Graph*> find_graph(Definitions& definitions,
                                             const std::string& workflow) {
  const defs::WorkflowDef* definition = definitions.workflow(workflow);
  if (definition == nullptr) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the manifest has no workflow '" + workflow + "'");
  }
  if (const steps::Graph* graph = definitions.graph_of(workflow)) return graph;
  const defs::ModuleDef* module = definitions.module(definition->impl.module);
  if (module == nullptr || module->runtime != defs::Runtime::kSteps) {
    return base::Error(base::ErrorCode::kNotFound,
                       "'" + workflow + "' is not made of steps, and has no graph");
  }
  return base::Error(base::ErrorCode::kNotFound,
                     "the definition of '" + workflow +
                         "' has no graph: it was made by a program of before; apply it again");
}

void put_graph(codec::Buffer& out, std::string_view workflow, const steps::Graph& graph) {
  codec::write_map_head(out, 2);
  put(out, "workflow", workflow);
  codec::write_text(out, "graph");
  steps::write_graph(out, graph);
}

// The last one is kept whatever it is: it says how far the run is.
void RunRecords::add(Bytes record) {
  const bool is_progress = pieces_.take(codec::View::of(record));
  if (++read_ != 1 && is_progress) return;
  bytes_ += record.size();
  kept_.push_back(std::move(record));
}

steps::Execution RunRecords::execution(const steps::Graph& graph, const std::string& workflow,
                                       const Bytes& key, const RawInstance& instance) const {
  steps::ExecutionReader reader(graph, workflow, key);
  reader.add(pieces_);
  for (auto record = kept_.rbegin(); record != kept_.rend(); ++record)
    reader.add(codec::View::of(*record));
  return std::move(reader).finish(instance.state, name_of(instance.status));
}

void put_run(codec::Buffer& out, const RunOfSteps& run) {
  codec::write_map_head(out, 4);
  put(out, "workflow", run.workflow);
  put_value(out, "key", run.key);
  codec::write_text(out, "graph");
  steps::write_graph(out, run.graph);
  codec::write_text(out, "execution");
  steps::write_execution(out, run.graph, run.execution);
}

base::Result<std::string> draw_graph(const std::string& workflow, const steps::Graph& graph,
                                     steps::DrawingFormat format) {
  steps::Picture picture = steps::picture_of(graph);
  picture.title.push_back(workflow);
  for (const std::string& child : graph.children()) picture.title.push_back("runs " + child);
  return steps::draw(picture, format);
}

base::Result<std::string> draw_run(const RunOfSteps& run, steps::DrawingFormat format) {
  // Before what happened is written into it.
  TRY(steps::check_size(steps::picture_of(run.graph)));
  steps::Picture picture = steps::picture_of(run.graph, run.execution);
  std::string name = run.workflow;
  if (!run.key.empty()) {
    const codec::View key = codec::View::of(run.key);
    name += "/" + (key.text() ? codec::word_of_key(*key.text()) : codec::to_json(key));
  }
  picture.title.insert(picture.title.begin(), name);
  return steps::draw(picture, format);
}

}  // namespace holdfast::gateway
