// SPDX-License-Identifier: Apache-2.0
#include "native/flow_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "steps/check_graph.h"

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

class Maker {
 public:
  Maker(const detail::Flow& flow, const defs::Catalogue* catalogue) {
    for (const detail::Flow::Type& type : flow.types) {
      steps::EventType& made = types_.emplace_back();
      made.schema = type.schema;
      made.role = role_of(type.role);
      made.is_sent = type.is_sent;
      if (catalogue == nullptr) continue;
      base::Errors errors;  // of schemas that the catalogue has refused already
      const codec::Type* form = catalogue->find(type.schema);
      if (form == nullptr) continue;
      if (auto schema = codec::Schema::compile(*form, *catalogue, type.schema, errors))
        made.form = std::move(*schema);
    }
    for (const detail::Flow::Step& step : flow.steps) add(step);
  }

  steps::Graph graph(std::uint64_t timeout_ns) && {
    return {std::move(types_), std::move(steps_), timeout_ns};
  }

 private:
  void add(const detail::Flow::Step& step) {
    steps::StepDef& made = steps_.emplace_back();
    made.name = step.name;
    made.accepts = indices(step.accepts);
    if (!step.join.empty()) made.join = steps::Join{index(step.join), step.take};
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

steps::Graph graph_of(const detail::Flow& flow, const defs::Catalogue* catalogue) {
  return Maker(flow, catalogue).graph(flow.timeout_ns);
}

void check_flow(const detail::Flow& flow, base::Errors& errors) {
  base::Errors found;
  steps::check_graph(graph_of(flow), found);
  for (const base::Error& error : found)
    errors.push_back(base::invalid(flow.workflow, error.to_string()));
}

std::string entrypoint_of(const detail::Flow& flow) {
  return flow.workflow + kMark + base::to_hex(graph_of(flow).digest().bytes);
}

std::string_view workflow_of(std::string_view entrypoint) {
  return entrypoint.substr(0, entrypoint.find(kMark));
}

}  // namespace holdfast::native
