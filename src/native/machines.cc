// SPDX-License-Identifier: Apache-2.0
#include "native/machines.h"

#include <algorithm>
#include <utility>

#include "defs/builtin.h"
#include "defs/system_names.h"
#include "native/bundle.h"
#include "native/fit.h"
#include "native/flow_graph.h"

namespace holdfast::native {
namespace {

constexpr Rules kAllRules[] = {Rules::kFirst, Rules::kKeepsEarly, Rules::kTellsAttempts,
                               Rules::kTellsRepeats};

// What has become of the entries of step workflows does not keep the code from running them.
std::optional<std::string> entries_of(const std::optional<std::string>& annotations) {
  return annotations == defs::kStepEntry1 ? std::string(defs::kStepEntry) : annotations;
}

}  // namespace

// The definitions that the code was compiled with, and the events that each workflow emits.
struct Machines::Compiled {
  explicit Compiled(std::span<const Module> modules)
      : bundle(load(modules, &defs::builtin_catalogue())) {
    for (const Module& module : modules) {
      for (const Module::Code& code : module.code()) emits[code.workflow] = code.emits;
      // What steps pass on is nowhere in the definition of their workflow.
      for (const detail::Flow& flow : module.flows()) {
        for (const detail::Flow::Type& type : flow.types)
          emits[flow.workflow].push_back(type.schema);
        for (const Rules rules : kAllRules) {
          if (rules != steps::kNewestRules)
            earlier[flow.workflow].push_back(
                {entrypoint_of(flow, rules), graph_bytes(flow, rules)});
        }
      }
    }
  }

  defs::Bundle bundle;
  std::map<std::string, std::vector<std::string>, std::less<>> emits;
  // Of step workflows: what earlier programs would have put into their definitions.
  struct Earlier {
    std::string entrypoint;
    base::Bytes graph;
  };
  std::map<std::string, std::vector<Earlier>, std::less<>> earlier;

  const Earlier* find_earlier(std::string_view workflow, std::string_view entrypoint) const {
    const auto found = earlier.find(workflow);
    if (found == earlier.end()) return nullptr;
    for (const Earlier& one : found->second) {
      if (one.entrypoint == entrypoint) return &one;
    }
    return nullptr;
  }
};

Machines::Machines(std::span<const Module> modules)
    : compiled_(std::make_shared<const Compiled>(modules)) {
  for (const Module& module : modules) {
    for (const Module& earlier : module.earlier())
      earlier_.push_back(std::make_unique<const Machines>(std::span(&earlier, 1)));
    for (const Module::Code& code : module.code())
      machines_.emplace(std::pair(module.name(), code.workflow), code);
    for (const detail::Flow& flow : module.flows()) {
      std::vector<FlowMachine>& all = flows_[std::pair(module.name_of_flows(), flow.workflow)];
      for (const Rules rules : kAllRules) {
        all.push_back({entrypoint_of(flow, rules),
                       steps::StepsMachine(graph_of(flow, &compiled_->bundle.catalogue, rules),
                                           flow.workflow)});
      }
    }
  }
}

// Of a step workflow the machine is made of the definition: any version that has the steps will do.
std::optional<std::string> Machines::objection(const defs::WorkflowDef& workflow,
                                               const defs::Catalogue& catalogue) const {
  auto own = own_objection(workflow, catalogue);
  if (!own || !workflow.graph) return own;
  const bool fits_earlier = std::ranges::any_of(
      earlier_, [&](const auto& earlier) { return !earlier->objection(workflow, catalogue); });
  return fits_earlier ? std::nullopt : std::move(own);
}

std::optional<std::string> Machines::own_objection(const defs::WorkflowDef& workflow,
                                                   const defs::Catalogue& catalogue) const {
  // What it was compiled with stands under the name of its entrypoint.
  const auto emits = compiled_->emits.find(workflow_of(workflow.impl.entrypoint));
  if (emits == compiled_->emits.end()) return "there is none for its steps";
  if (!compiled_->bundle.errors.empty())
    return "what it was compiled with is not good: " +
           compiled_->bundle.errors.begin()->to_string();
  const auto* own = compiled_->bundle.catalogue.get<defs::WorkflowDef>(emits->first);
  if (own == nullptr) return "it was compiled without definition";
  const auto* earlier = compiled_->find_earlier(emits->first, workflow.impl.entrypoint);
  if (own->impl.entrypoint != workflow.impl.entrypoint && earlier == nullptr)
    return misfit_of_steps(compiled_->bundle.catalogue, *own, catalogue, workflow);
  // One that only shows another picture than it runs.
  if (workflow.graph && (earlier != nullptr ? earlier->graph : own->graph) != workflow.graph)
    return "the graph in its definition is not that of its steps";
  if (earlier == nullptr)
    return misfit(compiled_->bundle.catalogue, *own, emits->second, catalogue, workflow);
  defs::WorkflowDef defined = workflow;
  defined.annotations = entries_of(workflow.annotations);
  return misfit(compiled_->bundle.catalogue, *own, emits->second, catalogue, defined);
}

const kernel::Machine* Machines::find(const defs::ModuleDef& module,
                                      std::string_view entrypoint) const {
  if (module.runtime == defs::Runtime::kSteps) {
    const auto flow = flows_.find(std::pair(module.name, std::string(workflow_of(entrypoint))));
    if (flow == flows_.end()) return nullptr;
    for (const FlowMachine& one : flow->second) {
      if (one.entrypoint == entrypoint) return &one.machine;
    }
    return &flow->second.front().machine;
  }
  if (module.runtime != defs::Runtime::kNative) return nullptr;
  const auto found = machines_.find(std::pair(module.name, std::string(entrypoint)));
  return found == machines_.end() ? nullptr : &found->second;
}

const kernel::Machine* Machines::find_fitting(const defs::ModuleDef& module,
                                              const defs::WorkflowDef& workflow,
                                              const defs::Catalogue& catalogue,
                                              std::string& why) const {
  const kernel::Machine* const own = MachineSource::find_fitting(module, workflow, catalogue, why);
  if (own != nullptr && why.empty()) return own;
  for (const auto& earlier : earlier_) {
    std::string why_not;
    const kernel::Machine* found = earlier->find_fitting(module, workflow, catalogue, why_not);
    if (found == nullptr || !why_not.empty()) continue;
    why.clear();
    return found;
  }
  return own;
}

const kernel::Machine* Machines::find_system(std::string_view workflow) const {
  if (workflow == defs::kGraphWorkflow) return &graph_;
  if (workflow == defs::kFlowWorkflow) return &flow_;
  if (workflow == defs::kTaskWorkflow) return &task_;
  return workflow == defs::kScheduleWorkflow ? &schedule_ : nullptr;
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

bool Machines::Machine::migrate(const kernel::EarlierState& earlier, codec::Buffer& out,
                                std::string& why) const {
  if (migrate_ == nullptr) return kernel::Machine::migrate(earlier, out, why);
  Bytes made;
  if (!migrate_(earlier.state, made, why)) return false;
  out.append(made);
  return true;
}

void Machines::Machine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  Step step(input, output);
  function_(step);
}

}  // namespace holdfast::native
