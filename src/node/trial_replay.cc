// SPDX-License-Identifier: Apache-2.0
#include "node/trial_replay.h"

#include <utility>

#include "kernel/snapshot_parts.h"
#include "node/witnesses.h"

namespace holdfast::node {
namespace {

// Whether they are alike but for the ids of events, as one of them is of a time when those were
// kept otherwise, or without how many deliveries were unhandled.
bool differs_in_old_ids_only(const kernel::Blobs& blobs, const base::Hash& listed,
                             base::ByteView now) {
  const auto bytes = blobs.get(listed);
  if (!bytes) return false;
  const auto before = kernel::read_snapshot(*bytes);
  const auto after = kernel::read_snapshot(now);
  if (!before || !after) return false;
  if (kernel::same_but_for_ids_of_before(*before, *after)) return true;
  const auto is_same = kernel::same_but_for_unhandled(blobs, *before, *after);
  return is_same && *is_same;
}

}  // namespace

const kernel::Machine* WatchedMachines::find(const defs::ModuleDef& module,
                                             std::string_view entrypoint) const {
  const kernel::Machine* const machine = machines_.find(module, entrypoint);
  if (machine == nullptr) {
    if (!missing_.empty()) missing_ += ", ";
    missing_ += module.name + " (" + std::string(entrypoint) + ")";
  }
  return machine;
}

std::shared_ptr<const kernel::Machine> WatchedMachines::make(
    const defs::ModuleDef& module, const defs::WorkflowDef& workflow,
    const defs::Catalogue& catalogue) const {
  return machines_.make(module, workflow, catalogue);
}

// Code of an earlier version is as good as that of the present one.
const kernel::Machine* WatchedMachines::find_fitting(const defs::ModuleDef& module,
                                                     const defs::WorkflowDef& workflow,
                                                     const defs::Catalogue& catalogue,
                                                     std::string& why) const {
  const kernel::Machine* const machine = machines_.find_fitting(module, workflow, catalogue, why);
  return machine != nullptr ? machine : find(module, workflow.impl.entrypoint);
}

std::optional<std::string> WatchedMachines::objection(const defs::WorkflowDef& workflow,
                                                      const defs::Catalogue& catalogue) const {
  return machines_.objection(workflow, catalogue);
}

base::Result<void> TrialReplay::judge(base::Error error, std::string why_stopped) {
  if (!machines_.missing().empty()) {
    stopped_ = "this program has no code for " + machines_.missing();
    return {};
  }
  if (error.code() == base::ErrorCode::kTooLarge) {
    stopped_ = error.message();
    return {};
  }
  // A step that this program cannot run: the journal may be as good as it was.
  if (error.code() == base::ErrorCode::kUnavailable) {
    stopped_ = error.to_string();
    return {};
  }
  stopped_ = std::move(why_stopped);
  return error;
}

base::Result<void> TrialReplay::begin_with(const store::SnapshotEntry& snapshot) {
  const base::Bytes bytes = TRY(blobs_.get(snapshot.hash));
  auto world = kernel::World::restore(machines_, blobs_, bytes);
  if (!world) {
    auto judged = judge(std::move(world).error(), "");
    if (!judged) return std::move(judged).error().within(name_of(snapshot));
    return {};
  }
  if (world->next_record() != snapshot.next_record) {
    return base::Error(base::ErrorCode::kCorrupt, name_of(snapshot),
                       "says that it is before record " + std::to_string(world->next_record()));
  }
  world_ = std::move(*world);
  return {};
}

base::Result<void> TrialReplay::replay(const store::Record& record) {
  if (!stopped_.empty() || record.number < next()) return {};
  auto outcome = world_.replay(record.bytes);
  if (!outcome) return judge(std::move(outcome).error(), "a record came out differently");
  ++replayed_;
  return {};
}

base::Result<void> TrialReplay::compare(const store::SnapshotEntry& snapshot) {
  if (!stopped_.empty() || replayed_ == 0 || next() != snapshot.next_record) return {};
  const auto bytes = world_.snapshot();
  if (!bytes) {
    auto error = base::Error(bytes.error().code(), bytes.error().where(), bytes.error().message());
    return judge(std::move(error), "the world could not be put into a snapshot");
  }
  ++reached_;
  if (base::sha256(*bytes) == snapshot.hash) return {};
  if (differs_in_old_ids_only(blobs_, snapshot.hash, *bytes)) return {};
  stopped_ = "a snapshot is not what replay comes to";
  return base::Error(base::ErrorCode::kCorrupt, name_of(snapshot),
                     "is not what replaying the records before it comes to");
}

}  // namespace holdfast::node
