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

namespace holdfast::native {

// Of the modules it was made from it keeps the code and what that was compiled with.
class Machines : public kernel::MachineSource {
 public:
  explicit Machines(std::span<const Module> modules);

  const kernel::Machine* find(const defs::ModuleDef& module,
                              std::string_view entrypoint) const override;
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

  struct Compiled;

  std::map<std::pair<std::string, std::string>, Machine, std::less<>> machines_;
  std::map<std::pair<std::string, std::string>, steps::StepsMachine, std::less<>> flows_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace holdfast::native
