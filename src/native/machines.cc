// SPDX-License-Identifier: Apache-2.0
#include "native/machines.h"

namespace holdfast::native {

Machines::Machines(std::span<const Module> modules) {
  for (const Module& module : modules) {
    for (const Module::Code& code : module.code())
      machines_.emplace(std::pair(module.name(), code.workflow), code.step);
  }
}

const kernel::Machine* Machines::find(const defs::ModuleDef& module,
                                      std::string_view entrypoint) const {
  if (module.runtime != defs::Runtime::kNative) return nullptr;
  const auto found = machines_.find(std::pair(module.name, std::string(entrypoint)));
  return found == machines_.end() ? nullptr : &found->second;
}

void Machines::Machine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  Step step(input, output);
  function_(step);
}

}  // namespace holdfast::native
