// SPDX-License-Identifier: Apache-2.0
#include "native/fit.h"

#include <set>

#include "defs/name.h"
#include "defs/references.h"
#include "steps/graph.h"
#include "steps/graph_codec.h"

namespace holdfast::native {
namespace {

class Comparison {
 public:
  Comparison(const defs::Catalogue& compiled, const defs::Catalogue& defined)
      : compiled_(compiled), defined_(defined) {}

  void same_names(const std::string& what, const std::string& own, const std::string& other) {
    if (own != other) differs(what + " is '" + other + "', in the code '" + own + "'");
  }

  // A schema, and all that it refers to. The system's own are the same everywhere.
  void same_schema(const std::string& name) {
    if (difference_ || defs::is_reserved(name) || !seen_.insert(name).second) return;
    const defs::Entry* own = compiled_.find_entry(name);
    const defs::Entry* other = defined_.find_entry(name);
    if (own == nullptr || other == nullptr)
      return differs("'" + name + "' is not in " +
                     (own == nullptr ? "the code" : "the definitions"));
    if (own->hash != other->hash) return differs("'" + name + "' is another one in the code");
    defs::visit_references(own->definition, [this](const defs::Reference& reference) {
      same_schema(std::string(reference.name));
    });
  }

  void same_effect(const std::string& name) {
    if (difference_ || defs::is_reserved(name)) return;
    const auto* own = compiled_.get<defs::EffectDef>(name);
    const auto* other = defined_.get<defs::EffectDef>(name);
    if (own == nullptr || other == nullptr)
      return differs("'" + name + "' is not in " +
                     (own == nullptr ? "the code" : "the definitions"));
    same_names("the params of '" + name + "'", own->params, other->params);
    same_names("the receipt of '" + name + "'", own->receipt, other->receipt);
    same_schema(own->params);
    same_schema(own->receipt);
  }

  void differs(std::string what) {
    if (!difference_) difference_ = std::move(what);
  }
  std::optional<std::string> take() { return std::move(difference_); }

 private:
  const defs::Catalogue& compiled_;
  const defs::Catalogue& defined_;
  std::set<std::string> seen_;
  std::optional<std::string> difference_;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> schemas_of(const steps::Graph& graph,
                                    const std::vector<steps::TypeIndex>& types) {
  std::vector<std::string> names;
  for (const steps::TypeIndex type : types) names.push_back(graph.type(type).schema);
  return names;
}

// What a body is called with, and may answer.
bool is_called_alike(const steps::Graph& own, const steps::StepDef& body, const steps::Graph& other,
                     const steps::StepDef& step) {
  const auto join_of = [](const steps::Graph& graph, const steps::StepDef& of) {
    return of.join ? graph.type(of.join->type).schema : std::string();
  };
  return schemas_of(own, body.accepts) == schemas_of(other, step.accepts) &&
         schemas_of(own, body.slots) == schemas_of(other, step.slots) &&
         schemas_of(own, body.returns) == schemas_of(other, step.returns) &&
         schemas_of(own, body.returns_list) == schemas_of(other, step.returns_list) &&
         join_of(own, body) == join_of(other, step) && body.is_handler == step.is_handler;
}

}  // namespace

std::optional<std::string> misfit_of_steps(const defs::Catalogue& compiled,
                                           const defs::WorkflowDef& own,
                                           const defs::Catalogue& defined,
                                           const defs::WorkflowDef& other) {
  constexpr const char* kAnother = "the graph of its steps is another one in the code";
  if (!own.graph || !other.graph) return kAnother;
  const auto code = steps::read_graph(codec::View::of(*own.graph), own.name);
  const auto graph = steps::read_graph(codec::View::of(*other.graph), other.name);
  if (!code || !graph) return kAnother;
  for (const steps::StepDef& step : graph->steps()) {
    const auto body = code->step_named(step.name);
    if (!body || !is_called_alike(*code, code->step(*body), *graph, step))
      return std::string(kAnother) + ": the step '" + step.name + "' is " +
             (body ? "called otherwise" : "not there");
  }
  Comparison comparison(compiled, defined);
  for (const steps::EventType& type : graph->types()) comparison.same_schema(type.schema);
  comparison.same_names("the key", own.key_schema.value_or("none"),
                        other.key_schema.value_or("none"));
  if (own.key_schema) comparison.same_schema(*own.key_schema);
  for (const std::string& effect : other.effects_emitted) comparison.same_effect(effect);
  return comparison.take();
}

std::optional<std::string> misfit(const defs::Catalogue& compiled, const defs::WorkflowDef& own,
                                  const std::vector<std::string>& emits,
                                  const defs::Catalogue& defined, const defs::WorkflowDef& other) {
  Comparison comparison(compiled, defined);
  comparison.same_names("the state", own.state, other.state);
  comparison.same_names("the event type", own.event, other.event);
  comparison.same_names("the key", own.key_schema.value_or("none"),
                        other.key_schema.value_or("none"));
  comparison.same_names("the annotations", own.annotations.value_or("none"),
                        other.annotations.value_or("none"));
  comparison.same_names("effects_emitted", listed(own.effects_emitted),
                        listed(other.effects_emitted));
  comparison.same_schema(own.state);
  comparison.same_schema(own.event);
  if (own.key_schema) comparison.same_schema(*own.key_schema);
  if (own.annotations) comparison.same_schema(*own.annotations);
  for (const std::string& effect : own.effects_emitted) comparison.same_effect(effect);
  for (const std::string& event : emits) comparison.same_schema(event);
  return comparison.take();
}

}  // namespace holdfast::native
