// SPDX-License-Identifier: Apache-2.0
#include "adapters/step_program.h"

#include <algorithm>
#include <utility>

#include "defs/builtin.h"
#include "errors/translate.h"
#include "native/bundle.h"
#include "native/flow_graph.h"
#include "steps/machine.h"
#include "steps/results_codec.h"

namespace holdfast {

static_assert(static_cast<int>(StepRules::kNewest) == static_cast<int>(steps::kNewestRules));

Result<StepProgram> StepProgram::make(const Module& module, std::vector<Handler> handlers,
                                      StepRules rules) {
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = native::load_without_children({&module, 1}, &builtin);
  if (!bundle.errors.empty())
    return errors::outside(
        base::Error(base::ErrorCode::kInvalid, bundle.errors.begin()->to_string()));
  const detail::Flow& flow = module.flows().front();
  auto body = std::make_shared<Body>(
      Body{flow.workflow,
           native::graph_of(flow, &bundle.catalogue, static_cast<steps::Rules>(rules)),
           {},
           {}});
  // The graph has its steps in an order of its own.
  for (const steps::StepDef& step : body->graph.steps()) {
    const std::string effect = steps::effect_name(flow.workflow, step.name);
    const auto handler =
        std::find_if(handlers.begin(), handlers.end(),
                     [&](const Handler& candidate) { return candidate.effect == effect; });
    const auto made =
        std::find_if(flow.steps.begin(), flow.steps.end(),
                     [&](const auto& candidate) { return candidate.name == step.name; });
    if (handler == handlers.end() || made == flow.steps.end())
      return errors::outside(base::invalid(effect, "nobody performs the step"));
    body->bodies.push_back(std::move(handler->run));
    body->timeouts_ns.push_back(made->timeout_ns);
  }
  return StepProgram(std::move(body));
}

Result<base::ByteView> StepProgram::Body::event_of(std::string_view schema, base::ByteView value,
                                                   steps::Arena& arena) const {
  const auto type = graph.type_named(schema);
  if (!type) {
    return Error{ErrorCode::kInvalid, workflow + ": it has no event '" + std::string(schema) + "'"};
  }
  const auto event = steps::read_event(*type, value, graph, arena);
  if (!event) return errors::outside(event.error());
  return event->value;
}

}  // namespace holdfast
