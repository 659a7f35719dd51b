// SPDX-License-Identifier: Apache-2.0
#include "node/trial_replay.h"

#include <utility>

namespace holdfast::node {

const kernel::Machine* WatchedMachines::find(const defs::ModuleDef& module,
                                             std::string_view entrypoint) const {
  const kernel::Machine* const machine = machines_.find(module, entrypoint);
  if (machine == nullptr) {
    if (!missing_.empty()) missing_ += ", ";
    missing_ += module.name + " (" + std::string(entrypoint) + ")";
  }
  return machine;
}

std::optional<std::string> WatchedMachines::objection(const defs::WorkflowDef& workflow,
                                                      const defs::Catalogue& catalogue) const {
  return machines_.objection(workflow, catalogue);
}

base::Result<void> TrialReplay::replay(base::ByteView record) {
  if (!stopped_.empty()) return {};
  auto outcome = world_.replay(record);
  if (outcome) {
    ++replayed_;
    return {};
  }
  if (!machines_.missing().empty()) {
    stopped_ = "this program has no code for " + machines_.missing();
    return {};
  }
  if (outcome.error().code() == base::ErrorCode::kTooLarge) {
    stopped_ = outcome.error().message();
    return {};
  }
  // A step that this program cannot run: the journal may be as good as it was.
  if (outcome.error().code() == base::ErrorCode::kUnavailable) {
    stopped_ = outcome.error().to_string();
    return {};
  }
  stopped_ = "a record came out differently";
  return std::move(outcome).error();
}

}  // namespace holdfast::node
