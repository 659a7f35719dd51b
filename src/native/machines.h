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
#include <vector>

#include "flows/machine.h"
#include "holdfast/module.h"
#include "kernel/program.h"
#include "schedules/machine.h"
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
  const kernel::Machine* find_fitting(const defs::ModuleDef& module,
                                      const defs::WorkflowDef& workflow,
                                      const defs::Catalogue& catalogue,
                                      std::string& why) const override;
  const kernel::Machine* find_system(std::string_view workflow) const override;
  std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                       const defs::Catalogue& catalogue) const override;

 private:
  class Machine : public kernel::Machine {
   public:
    explicit Machine(const Module::Code& code) noexcept
        : function_(code.step), migrate_(code.migrate) {}
    void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
    bool migrate(const kernel::EarlierState& earlier, codec::Buffer& out,
                 std::string& why) const override;

   private:
    StepFunction function_;
    MigrateFunction migrate_;
  };

  // For definitions without a graph: which rules they were made by is told by the entry point.
  struct FlowMachine {
    std::string entrypoint;
    steps::StepsMachine machine;
  };

  struct Compiled;

  // The same as `objection` without the code of earlier versions.
  std::optional<std::string> own_objection(const defs::WorkflowDef& workflow,
                                           const defs::Catalogue& catalogue) const;

  std::map<std::pair<std::string, std::string>, Machine, std::less<>> machines_;
  // By module and workflow.
  // The oldest rules first.
  std::map<std::pair<std::string, std::string>, std::vector<FlowMachine>, std::less<>> flows_;
  std::shared_ptr<const Compiled> compiled_;
  std::vector<std::unique_ptr<const Machines>> earlier_;  // code of earlier versions
  tasks::GraphMachine graph_;
  tasks::TaskMachine task_;
  flows::FlowMachine flow_;
  schedules::ScheduleMachine schedule_;
};

}  // namespace holdfast::native
