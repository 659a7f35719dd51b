// SPDX-License-Identifier: Apache-2.0
#include "native/flow_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "codec/json_writer.h"
#include "codec/view.h"
#include "steps/check_graph.h"
#include "steps/graph_codec.h"

namespace holdfast::native {
namespace {

using Role = detail::Flow::Role;

steps::Role role_of(Role role) {
  switch (role) {
    case Role::kPlain: return steps::Role::kPlain;
    case Role::kStart: return steps::Role::kStart;
    case Role::kStop: return steps::Role::kStop;
    case Role::kInputRequired: return steps::Role::kInputRequired;
    case Role::kResponse: return steps::Role::kResponse;
    case Role::kStepFailed: return steps::Role::kStepFailed;
  }
  return steps::Role::kPlain;
}

// What a value of the type must be, as far as the catalogue knows.
void add_form(steps::EventType& type, const defs::Catalogue& catalogue) {
  base::Errors errors;  // of schemas that the catalogue has refused already
  const codec::Type* form = catalogue.find(type.schema);
  if (form == nullptr) return;
  if (auto schema = codec::Schema::compile(*form, catalogue, type.schema, errors))
    type.form = std::move(*schema);
}

class Maker {
 public:
  Maker(const detail::Flow& flow, const defs::Catalogue* catalogue) {
    for (const detail::Flow::Type& type : flow.types) {
      steps::EventType& made = types_.emplace_back();
      made.schema = type.schema;
      made.role = role_of(type.role);
      made.is_sent = type.is_sent;
      if (catalogue != nullptr) add_form(made, *catalogue);
    }
    for (const detail::Flow::Step& step : flow.steps) add(step);
  }

  steps::Graph graph(const detail::Flow& flow, Rules rules) && {
    return {std::move(types_), std::move(steps_), flow.timeout_ns, flow.children, rules};
  }

 private:
  void add(const detail::Flow::Step& step) {
    steps::StepDef& made = steps_.emplace_back();
    made.name = step.name;
    made.accepts = indices(step.accepts);
    if (!step.join.empty()) made.join = steps::Join{index(step.join), step.take};
    made.slots = indices(step.slots);
    made.returns = indices(step.returns);
    made.returns_list = indices(step.returns_list);
    made.workers = step.workers;
    made.is_handler = step.is_handler;
    made.max_recoveries = step.max_recoveries;
    made.handles = step.handles;
  }

  // Every type that a step names is among the types of the flow.
  steps::TypeIndex index(const std::string& schema) const {
    const auto found = std::find_if(types_.begin(), types_.end(),
                                    [&](const auto& type) { return type.schema == schema; });
    return static_cast<steps::TypeIndex>(found - types_.begin());
  }
  std::vector<steps::TypeIndex> indices(const std::vector<std::string>& schemas) const {
    std::vector<steps::TypeIndex> all;
    for (const std::string& schema : schemas) all.push_back(index(schema));
    return all;
  }

  std::vector<steps::EventType> types_;
  std::vector<steps::StepDef> steps_;
};

constexpr char kMark = '#';

}  // namespace

steps::Graph graph_of(const detail::Flow& flow, const defs::Catalogue* catalogue, Rules rules) {
  return Maker(flow, catalogue).graph(flow, rules);
}

void check_flow(const detail::Flow& flow, base::Errors& errors) {
  for (const std::string& error : flow.errors)
    errors.push_back(base::invalid(flow.workflow, error));
  base::Errors found;
  steps::check_graph(graph_of(flow), found);
  // A graph says how many only of what is joined.
  for (const detail::Flow::Step& step : flow.steps) {
    if (step.take != 0 && step.join.empty())
      found.push_back(base::invalid(
          "step '" + step.name + "'",
          "it takes the first " + std::to_string(step.take) + " of a list, and takes no list"));
  }
  for (const base::Error& error : found)
    errors.push_back(base::invalid(flow.workflow, error.to_string()));
}

namespace {

std::string entrypoint_of(std::string_view workflow, const steps::Graph& graph) {
  return std::string(workflow) + kMark + base::to_hex(graph.digest().bytes);
}

}  // namespace

std::string entrypoint_of(const detail::Flow& flow, Rules rules) {
  return entrypoint_of(flow.workflow, graph_of(flow, nullptr, rules));
}

std::optional<steps::Graph> graph_in(const defs::WorkflowDef& workflow,
                                     const defs::Catalogue& catalogue) {
  if (!workflow.graph) return std::nullopt;
  const auto graph = steps::read_graph(codec::View::of(*workflow.graph), workflow.name);
  const std::string& entrypoint = workflow.impl.entrypoint;
  // Whether it can run was looked at before it was applied; what is asked today may be more.
  if (!graph || entrypoint_of(workflow_of(entrypoint), *graph) != entrypoint) return std::nullopt;
  std::vector<steps::EventType> types = graph->types();
  for (steps::EventType& type : types) add_form(type, catalogue);
  return steps::Graph(std::move(types), graph->steps(), graph->timeout_ns(), graph->children(),
                      graph->rules());
}

base::Bytes graph_bytes(const detail::Flow& flow, Rules rules) {
  codec::Buffer out;
  steps::write_graph(out, graph_of(flow, nullptr, rules));
  return out.to_bytes();
}

std::string graph_json(const detail::Flow& flow) {
  return codec::to_json(codec::View::of(graph_bytes(flow)));
}

std::string_view workflow_of(std::string_view entrypoint) {
  return entrypoint.substr(0, entrypoint.find(kMark));
}

}  // namespace holdfast::native
