// SPDX-License-Identifier: Apache-2.0
#include "engine/performers.h"

#include "defs/system_names.h"

namespace holdfast::engine {

Performers::Performers(const node::Executors& executors, const FunctionsByEffect& functions,
                       bool leases)
    : leases_(leases) {
  kinds_.insert("timer");  // the node's own
  for (const auto& [kind, executor] : executors) kinds_.insert(kind);
  for (const auto& [effect, function] : functions) effects_.insert(effect);
}

base::Result<void> Performers::check(const defs::Bundle& bundle) const {
  for (const auto& [name, entry] : bundle.catalogue.entries()) {
    const auto* effect = std::get_if<defs::EffectDef>(&entry.definition);
    const auto* by = effect == nullptr ? nullptr : std::get_if<defs::Executor>(&effect->performer);
    if (by == nullptr) continue;
    if (by->kind == "worker") {
      if (!leases_ && name != defs::kTaskRun && !effects_.contains(name))
        return base::invalid(name, "the effect has no handler");
    } else if (!kinds_.contains(by->kind)) {
      return base::invalid(name, "there is no executor '" + by->kind + "'");
    }
  }
  return {};
}

}  // namespace holdfast::engine
