// SPDX-License-Identifier: Apache-2.0
// Machines: the code of native modules as the kernel calls it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/module.h"
#include "kernel/program.h"

namespace holdfast::native {

// Of the modules it was made from it keeps nothing but the code.
class Machines : public kernel::MachineSource {
 public:
  explicit Machines(std::span<const Module> modules);

  const kernel::Machine* find(const defs::ModuleDef& module,
                              std::string_view entrypoint) const override;

 private:
  class Machine : public kernel::Machine {
   public:
    explicit Machine(StepFunction function) noexcept : function_(function) {}
    void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;

   private:
    StepFunction function_;
  };

  std::map<std::pair<std::string, std::string>, Machine, std::less<>> machines_;
};

}  // namespace holdfast::native
