// SPDX-License-Identifier: Apache-2.0
// Workers enrol, and verdicts about them. A worker that is lost or leaves gives back what it holds.
#include <utility>

#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

bool is_name(std::string_view text) { return !text.empty() && is_text(text, kMaxWorkerNameBytes); }

std::optional<Refused> check_names(const WorkerEnrolled& enrolled) {
  const auto bad = [](std::string_view what) {
    return Refused{base::ErrorCode::kInvalid,
                   "the " + std::string(what) + " of a worker must be UTF-8 of 1 to 128 bytes"};
  };
  if (!is_name(enrolled.worker)) return bad("id");
  if (!is_name(enrolled.node)) return bad("node");
  if (!is_name(enrolled.name)) return bad("name");
  if (enrolled.description.size() > kMaxWorkerDescription)
    return Refused{base::ErrorCode::kInvalid, "the description of a worker has more than 64 KiB"};
  return std::nullopt;
}

Refused no_room_for_workers() {
  return {base::ErrorCode::kUnavailable,
          "too many workers have enrolled, and none of them is gone"};
}

bool says_the_same(const Worker& known, const Worker& made) {
  return known.mode == WorkerMode::kActive && known.node == made.node && known.name == made.name &&
         known.secret == made.secret && known.description == made.description;
}

void set_mode(WorldState& world, std::string_view id, WorkerMode mode,
              const WorkerChanged& changed) {
  world.workers.change(id,
                       {mode, changed.reason, changed.by, world.tick->time_ns, world.next_record});
  tell_of_worker(world, std::string(id), *world.workers.find(id));
}

Answer change_mode(WorldState& world, const WorkerChanged& changed, WorkerMode mode) {
  const WorkerMode before = world.workers.find(changed.worker)->mode;
  if (before == mode) return Unchanged{};
  if (mode == WorkerMode::kDraining && before != WorkerMode::kActive)
    return Refused{base::ErrorCode::kConflict, "worker '" + shown(changed.worker) + "' is " +
                                                   std::string(name_of(before)) +
                                                   ", and cannot be drained"};
  set_mode(world, changed.worker, mode, changed);
  return Accepted{};
}

// As much as one record takes. The same said again gives back the rest.
Answer give_all_back(WorldState& world, const WorkerChanged& changed, WorkerMode mode) {
  const Worker* worker = world.workers.find(changed.worker);
  if (worker->mode == mode && worker->leases.empty()) return Unchanged{};
  Accepted accepted;
  const ReturnReason reason =
      mode == WorkerMode::kLost ? ReturnReason::kLost : ReturnReason::kDrain;
  std::vector<base::Hash> held;
  for (const auto& [dispatch, intent] : worker->leases) {
    if (held.size() == kMaxLeasesPerTick) break;
    held.push_back(intent);
  }
  if (worker->mode != mode) set_mode(world, changed.worker, mode, changed);
  for (const base::Hash& hash : held) {
    const Intent* const intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr || intent->lease() == nullptr ||
        intent->lease()->worker != changed.worker) {
      contradiction(world, "a worker holds what is not leased to it");
      return unreadable();
    }
    const auto verdict = give_back(world, hash, *intent, reason, {});
    if (!verdict) return unreadable();
    accepted.verdicts.push_back(*verdict);
  }
  accepted.leases_left = world.workers.find(changed.worker)->leases.size();
  return accepted;
}

Answer change_cordon(WorldState& world, const WorkerChanged& changed, bool cordons) {
  const Worker worker = *world.workers.find(changed.worker);
  if (world.workers.is_cordoned(worker) == cordons) return Unchanged{};
  if (!cordons) {
    world.workers.uncordon(worker);
  } else if (!world.workers.cordon(worker)) {
    return Refused{base::ErrorCode::kUnavailable, "too many places are cordoned"};
  }
  // Everybody who is in that place.
  std::vector<std::string> there;
  for (const auto& [id, other] : world.workers.all()) {
    if (other.node == worker.node && other.name == worker.name) there.push_back(id);
  }
  for (const std::string& id : there) set_mode(world, id, world.workers.find(id)->mode, changed);
  return Accepted{};
}

}  // namespace

Answer reduce_enrolled(WorldState& world, const WorkerEnrolled& enrolled) {
  if (auto refusal = check_names(enrolled)) return std::move(*refusal);
  base::ByteView description;
  if (!enrolled.description.empty()) {
    const auto made = world.normaliser.part_from_cbor(codec::Schema::any(), enrolled.description);
    if (!made)
      return Refused{base::ErrorCode::kInvalid,
                     "the description of a worker: " + made.error().to_string()};
    description = *made;
  }
  Worker worker;
  worker.node = enrolled.node;
  worker.name = enrolled.name;
  worker.secret = enrolled.secret;
  worker.description.assign(description.begin(), description.end());
  worker.enrolled_ns = worker.changed_ns = world.tick->time_ns;
  worker.changed_at = world.next_record;
  const Worker* const known = world.workers.find(enrolled.worker);
  if (known != nullptr && says_the_same(*known, worker)) return Unchanged{};
  if (!world.workers.put(enrolled.worker, std::move(worker))) return no_room_for_workers();
  tell_of_worker(world, std::string(enrolled.worker), *world.workers.find(enrolled.worker));
  return Accepted{};
}

Answer reduce_worker(WorldState& world, const WorkerChanged& changed) {
  if (!is_text(changed.reason, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the reason is too long, or not UTF-8"};
  if (const auto refused = check_by(changed.by)) return *refused;
  if (world.workers.find(changed.worker) == nullptr)
    return Refused{base::ErrorCode::kNotFound,
                   "there is no worker '" + shown(changed.worker) + "'"};
  switch (changed.change) {
    case WorkerChange::kActivate: return change_mode(world, changed, WorkerMode::kActive);
    case WorkerChange::kDrain: return change_mode(world, changed, WorkerMode::kDraining);
    case WorkerChange::kCordon: return change_cordon(world, changed, true);
    case WorkerChange::kUncordon: return change_cordon(world, changed, false);
    case WorkerChange::kLose: return give_all_back(world, changed, WorkerMode::kLost);
    case WorkerChange::kLeave: return give_all_back(world, changed, WorkerMode::kLeft);
  }
  return Refused{base::ErrorCode::kInvalid, "unknown change"};
}

}  // namespace holdfast::kernel
