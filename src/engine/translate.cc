// SPDX-License-Identifier: Apache-2.0
#include "engine/translate.h"

#include <string>
#include <utility>
#include <variant>

#include "engine/work_feed.h"
#include "kernel/record_view.h"

namespace holdfast::engine {
namespace {

InstanceStatus outside(kernel::Status status) {
  switch (status) {
    case kernel::Status::kRunning: return InstanceStatus::kRunning;
    case kernel::Status::kWaiting: return InstanceStatus::kWaiting;
    case kernel::Status::kCompleted: return InstanceStatus::kCompleted;
    case kernel::Status::kFailed: return InstanceStatus::kFailed;
    case kernel::Status::kCancelled: break;
  }
  return InstanceStatus::kCancelled;
}

struct ReasonOutside {
  WaitReason operator()(const kernel::WaitsForReceipt& waits) const {
    WaitReason reason;
    reason.kind = WaitReason::Kind::kReceipt;
    reason.effect = waits.effect;
    reason.executor = waits.executor;
    reason.intent = {waits.intent.bytes};
    reason.opened_at = waits.opened_at;
    reason.since_ns = waits.since_ns;
    reason.due_ns = waits.due_ns;
    reason.by_workers = waits.by_workers;
    if (waits.lease) reason.lease.emplace(lease_view(*waits.lease));
    reason.queued_ns = waits.queued_ns;
    reason.losses = waits.losses;
    reason.child_workflow = waits.child_workflow;
    reason.child_key = waits.child_key;
    return reason;
  }
  WaitReason operator()(const kernel::WaitsForTurn& waits) const {
    return with_mail(WaitReason::Kind::kTurn, waits.mail);
  }
  WaitReason operator()(const kernel::WaitsForRoom& waits) const {
    WaitReason reason = with_mail(WaitReason::Kind::kRoom, waits.mail);
    reason.full_workflow = waits.workflow;
    reason.full_key = waits.key;
    return reason;
  }
  WaitReason operator()(const kernel::HoldsEvents& holds) const {
    return with_mail(WaitReason::Kind::kHolds, holds.mail);
  }
  WaitReason operator()(const kernel::IsPaused& paused) const {
    WaitReason reason = with_mail(WaitReason::Kind::kPaused, paused.mail);
    reason.missing_code = paused.missing_code;
    return reason;
  }
  WaitReason operator()(const kernel::WaitsForEvent& waits) const {
    WaitReason reason;
    reason.kind = WaitReason::Kind::kEvent;
    reason.schemas = waits.schemas;
    return reason;
  }
  WaitReason operator()(const kernel::WaitsForNothing&) const { return {}; }

  static WaitReason with_mail(WaitReason::Kind kind, std::uint64_t mail) {
    WaitReason reason;
    reason.kind = kind;
    reason.mail = mail;
    return reason;
  }
};

std::string in_words(const kernel::Untaken& untaken) {
  const std::string name = kernel::instance_name(untaken.workflow, untaken.key);
  switch (untaken.why) {
    case kernel::Untaken::Why::kNone: return "there is no " + name + ", and this event begins none";
    case kernel::Untaken::Why::kEnded:
      return name + " has ended" +
             (untaken.ended ? " (" + std::string(kernel::name_of(*untaken.ended)) + ")" : "");
    case kernel::Untaken::Why::kStrange: break;
  }
  return name + " goes on in a version of its workflow that does not know this event";
}

Sent with_words(Sent sent, const std::vector<kernel::Untaken>& untaken) {
  if (!sent.is_unhandled()) return sent;
  for (const kernel::Untaken& each : untaken)
    sent.why_unhandled += (sent.why_unhandled.empty() ? "" : "; ") + in_words(each);
  if (sent.why_unhandled.empty()) sent.why_unhandled = "no instance took the event";
  return sent;
}

}  // namespace

kernel::KeyReuse inside(KeyReuse reuse) {
  switch (reuse) {
    case KeyReuse::kStartAgain: return kernel::KeyReuse::kStartAgain;
    case KeyReuse::kReturn: return kernel::KeyReuse::kReturnEnded;
    case KeyReuse::kRefuse: break;
  }
  return kernel::KeyReuse::kRefuse;
}

Result<Sent> sent(const kernel::Answer& answer) {
  if (const auto error = refusal(answer)) return outside(*error);
  if (const auto* repeated = std::get_if<kernel::Repeated>(&answer))
    return with_words(
        {repeated->record, repeated->deliveries, repeated->ignored, true, repeated->unhandled},
        repeated->untaken);
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  return with_words(
      {accepted->record, accepted->deliveries, accepted->ignored, false, accepted->unhandled},
      accepted->untaken);
}

Result<Done> done(const kernel::Answer& answer) {
  if (const auto error = refusal(answer)) return outside(*error);
  return Done{};
}

Result<RawInstance> read(kernel::World& world, const kernel::InstanceName& name) {
  auto found = world.read(name.workflow, name.key);
  if (!found) return outside(found.error());
  if (!found->has_value()) {
    return Error{ErrorCode::kNotFound,
                 "there is no " + kernel::instance_name(name.workflow, name.key)};
  }
  kernel::InstanceValues& values = **found;
  RawInstance instance{outside(values.status), values.paused, std::move(values.state),
                       std::move(values.outcome)};
  const auto cell = world.find(name.workflow, name.key);
  if (!cell) return outside(cell.error());
  instance.last_record = (*cell)->last_record;
  instance.trace = (*cell)->trace;
  if (values.workflow != nullptr) {
    instance.code = RawInstance::Code{.workflow_hash = {values.workflow->hash.bytes},
                                      .module = values.workflow->module.name,
                                      .module_hash = {values.workflow->module.hash.bytes}};
  }
  return instance;
}

Result<std::vector<WaitReason>> reasons_of(kernel::World& world, const kernel::InstanceName& name) {
  const auto cell = world.find(name.workflow, name.key);
  if (!cell) return outside(cell.error());
  if (*cell == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "there is no " + kernel::instance_name(name.workflow, name.key)};
  }
  const auto found = world.why(name.workflow, name.key);
  if (!found) return outside(found.error());
  std::vector<WaitReason> reasons;
  for (const kernel::Reason& reason : *found)
    reasons.push_back(std::visit(ReasonOutside{}, reason));
  return reasons;
}

Result<std::optional<KeptVersion>> kept_version_of(kernel::World& world,
                                                   const kernel::InstanceName& name) {
  auto found = world.kept_version(name.workflow, name.key);
  if (!found) return outside(found.error());
  if (!*found) return std::optional<KeptVersion>();
  kernel::KeptVersion& version = **found;
  return std::optional(KeptVersion{.hash = {version.form.bytes},
                                   .present_hash = {version.present.bytes},
                                   .stays_because = std::move(version.stays_because)});
}

Migrated migrated(const node::MigrationSum& sum) {
  Migrated made{.moved = sum.moved, .stays = sum.stays};
  for (const kernel::Migration::Stays& each : sum.staying)
    made.staying.push_back({each.workflow, each.key, each.why});
  return made;
}

Result<Rehearsed> rehearsed(const node::Rehearsal& rehearsal) {
  auto told = applied(rehearsal.answer);
  if (!told) return told.error();
  told->record = 0;
  Rehearsed made{.at = rehearsal.at,
                 .instances = rehearsal.instances,
                 .applied = std::move(*told),
                 .migrated = migrated(rehearsal.migration),
                 .replayed = rehearsal.replayed,
                 .difference = rehearsal.difference,
                 .differs = rehearsal.differences.active,
                 .differs_ended = rehearsal.differences.ended,
                 .replay_stopped = rehearsal.differences.stopped};
  for (const node::DifferenceSum::Differing& each : rehearsal.differences.listed)
    made.differing.push_back({each.workflow, each.key, each.record, each.why});
  return made;
}

}  // namespace holdfast::engine
