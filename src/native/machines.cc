// SPDX-License-Identifier: Apache-2.0
#include "native/machines.h"

#include "defs/builtin.h"
#include "defs/system_names.h"
#include "native/bundle.h"
#include "native/fit.h"
#include "native/flow_graph.h"

namespace holdfast::native {

// The definitions that the code was compiled with, and the events that each workflow emits.
struct Machines::Compiled {
  explicit Compiled(std::span<const Module> modules)
      : builtin(defs::builtin_catalogue()), bundle(load(modules, &builtin)) {
    for (const Module& module : modules) {
      for (const Module::Code& code : module.code()) emits[code.workflow] = code.emits;
      // What steps pass on is nowhere in the definition of their workflow.
      for (const detail::Flow& flow : module.flows()) {
        for (const detail::Flow::Type& type : flow.types)
          emits[flow.workflow].push_back(type.schema);
        earlier[flow.workflow] = {entrypoint_of(flow, Rules::kEarlier),
                                  graph_bytes(flow, Rules::kEarlier)};
      }
    }
  }

  defs::Catalogue builtin;
  defs::Bundle bundle;
  std::map<std::string, std::vector<std::string>, std::less<>> emits;
  // Of step workflows: what an earlier program would have put into their definitions.
  struct Earlier {
    std::string entrypoint;
    base::Bytes graph;
  };
  std::map<std::string, Earlier, std::less<>> earlier;
};

Machines::Machines(std::span<const Module> modules)
    : compiled_(std::make_shared<const Compiled>(modules)) {
  for (const Module& module : modules) {
    for (const Module::Code& code : module.code())
      machines_.emplace(std::pair(module.name(), code.workflow), code.step);
    for (const detail::Flow& flow : module.flows()) {
      const auto machine = [&](Rules rules) {
        return steps::StepsMachine(graph_of(flow, &compiled_->bundle.catalogue, rules),
                                   flow.workflow);
      };
      flows_.emplace(
          std::pair(module.name_of_flows(), flow.workflow),
          FlowMachines{entrypoint_of(flow), machine(Rules::kToday), machine(Rules::kEarlier)});
    }
  }
}

std::optional<std::string> Machines::objection(const defs::WorkflowDef& workflow,
                                               const defs::Catalogue& catalogue) const {
  // What it was compiled with stands under the name of its entrypoint.
  const auto emits = compiled_->emits.find(workflow_of(workflow.impl.entrypoint));
  if (emits == compiled_->emits.end()) return "there is none for its steps";
  if (!compiled_->bundle.errors.empty())
    return "what it was compiled with is not good: " +
           compiled_->bundle.errors.begin()->to_string();
  const auto* own = compiled_->bundle.catalogue.get<defs::WorkflowDef>(emits->first);
  if (own == nullptr) return "it was compiled without definition";
  const auto earlier = compiled_->earlier.find(emits->first);
  const bool is_earlier =
      earlier != compiled_->earlier.end() && earlier->second.entrypoint == workflow.impl.entrypoint;
  if (own->impl.entrypoint != workflow.impl.entrypoint && !is_earlier)
    return "the graph of its steps is another one in the code";
  // One that only shows another picture than it runs.
  if (workflow.graph && (is_earlier ? earlier->second.graph : own->graph) != workflow.graph)
    return "the graph in its definition is not that of its steps";
  return misfit(compiled_->bundle.catalogue, *own, emits->second, catalogue, workflow);
}

const kernel::Machine* Machines::find(const defs::ModuleDef& module,
                                      std::string_view entrypoint) const {
  if (module.runtime == defs::Runtime::kSteps) {
    const auto flow = flows_.find(std::pair(module.name, std::string(workflow_of(entrypoint))));
    if (flow == flows_.end()) return nullptr;
    const FlowMachines& found = flow->second;
    return found.entrypoint == entrypoint ? &found.today : &found.earlier;
  }
  if (module.runtime != defs::Runtime::kNative) return nullptr;
  const auto found = machines_.find(std::pair(module.name, std::string(entrypoint)));
  return found == machines_.end() ? nullptr : &found->second;
}

const kernel::Machine* Machines::find_system(std::string_view workflow) const {
  if (workflow == defs::kGraphWorkflow) return &graph_;
  return workflow == defs::kTaskWorkflow ? &task_ : nullptr;
}

std::shared_ptr<const kernel::Machine> Machines::make(const defs::ModuleDef& module,
                                                      const defs::WorkflowDef& workflow,
                                                      const defs::Catalogue& catalogue) const {
  if (module.runtime != defs::Runtime::kSteps) return nullptr;
  auto graph = graph_in(workflow, catalogue);
  if (!graph) return nullptr;  // the code has it
  return std::make_shared<const steps::StepsMachine>(std::move(*graph),
                                                     workflow_of(workflow.impl.entrypoint));
}

void Machines::Machine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  Step step(input, output);
  function_(step);
}

}  // namespace holdfast::native
