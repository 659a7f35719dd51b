// SPDX-License-Identifier: Apache-2.0
// Machines: the code of native modules as the kernel calls it, and whether it fits definitions that
// may be of another age.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/module.h"
#include "kernel/program.h"
#include "steps/machine.h"
#include "tasks/graph_machine.h"
#include "tasks/task_machine.h"

namespace holdfast::native {

// Of the modules it was made from it keeps the code and what that was compiled with.
class Machines : public kernel::MachineSource {
 public:
  explicit Machines(std::span<const Module> modules);

  const kernel::Machine* find(const defs::ModuleDef& module,
                              std::string_view entrypoint) const override;
  // Of a step workflow: its steps are effects, so the graph in its definition is all it takes.
  std::shared_ptr<const kernel::Machine> make(const defs::ModuleDef& module,
                                              const defs::WorkflowDef& workflow,
                                              const defs::Catalogue& catalogue) const override;
  const kernel::Machine* find_system(std::string_view workflow) const override;
  std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                       const defs::Catalogue& catalogue) const override;

 private:
  class Machine : public kernel::Machine {
   public:
    explicit Machine(StepFunction function) noexcept : function_(function) {}
    void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;

   private:
    StepFunction function_;
  };

  // For definitions without a graph: which it was is told by the entry point.
  struct FlowMachines {
    std::string entrypoint;  // of today
    steps::StepsMachine today;
    steps::StepsMachine earlier;
  };

  struct Compiled;

  std::map<std::pair<std::string, std::string>, Machine, std::less<>> machines_;
  // By module and workflow.
  std::map<std::pair<std::string, std::string>, FlowMachines, std::less<>> flows_;
  std::shared_ptr<const Compiled> compiled_;
  tasks::GraphMachine graph_;
  tasks::TaskMachine task_;
};

}  // namespace holdfast::native
