// SPDX-License-Identifier: Apache-2.0
#include "registry/leases.h"

#include <algorithm>
#include <utility>

#include "registry/list.h"
#include "registry/session.h"
#include "registry/signals.h"
#include "registry/swap_log.h"

namespace holdfast::registry {
namespace {

base::Error not_found(std::string_view name) {
  return {base::ErrorCode::kNotFound, std::string(name), "no such workflow is registered"};
}

// Locked and reconciled. An orphan is gone for good also when what was wanted is then refused.
base::Result<Session> reconciled(const Site& site) {
  Session session = TRY(Session::open(site));
  if (TRY(session.reconcile())) TRY(session.save());
  return session;
}

base::Result<void> check(const NewLease& lease) {
  TRY(check_name("name", lease.name));
  TRY(check_name("recipe", lease.recipe));
  if (lease.ttl_seconds < 1 || lease.ttl_seconds > kMaxTtlSeconds)
    return base::invalid("ttl", "must be 1 second to 366 days");
  if (!lease.preemptible && !lease.signal_path.empty())
    return base::invalid("signal path", "is only for workflows that are preemptible");
  return {};
}

base::Result<std::int64_t> checked_pid(const Site& site, std::int64_t pid) {
  if (pid == 0) return site.host.process.id();
  if (pid > 0) return pid;
  return base::invalid("pid", "must be the number of a process");
}

// A lease that the claim does not mean is nobody's to touch, not even an operator's.
base::Result<void> check_claim(const Site& site, const Session& session, const Workflow& workflow,
                               const Claim& claim) {
  const auto refused = [&](const std::string& why) {
    return base::Error(base::ErrorCode::kConflict, workflow.name,
                       "belongs to " + describe(workflow.owner) + why);
  };
  if (!claim.nonce.empty() && claim.nonce != workflow.owner.nonce)
    return refused(", under the lease " + workflow.owner.nonce + ", not " + claim.nonce);
  if (claim.is_operator) return {};
  const std::int64_t pid = TRY(checked_pid(site, claim.pid));
  const auto who = session.witness().identify(pid);
  if (who && is_same_process(*who, workflow.owner)) return {};
  if (who) return refused(", which process " + std::to_string(pid) + " is not");
  if (who.error().code() == base::ErrorCode::kNotFound)
    return refused("; there is no process " + std::to_string(pid));
  return base::Error(who.error().code(), who.error().where(), who.error().message());
}

// Room for it: its name and its signal file are nobody else's. The entries of the dead are gone.
base::Result<void> make_room(const Site& site, Session& session, const Workflow& wanted) {
  State& state = session.state();
  for (const Workflow& other : state.workflows) {
    const bool ours = is_same_process(other.owner, wanted.owner);
    if (other.name == wanted.name && !ours) {
      return base::Error(base::ErrorCode::kConflict, wanted.name,
                         "is registered by " + describe(other.owner) + ", which is alive");
    }
    if (other.name != wanted.name && wanted.preemptible && other.signal_name == wanted.signal_name)
      return base::Error(base::ErrorCode::kConflict, wanted.signal_name,
                         "is the signal file of " + other.name);
  }
  if (const Workflow* const before = state.find(wanted.name)) {
    TRY(remove_signal(site, *before));
    std::erase_if(state.workflows, [&](const Workflow& each) { return each.name == wanted.name; });
  }
  // What may lie there from long ago asks nobody.
  return remove_signal(site, wanted);
}

void renew_at(const Site& site, Workflow& workflow) {
  workflow.last_renewed_at_ns = wall_in_whole_ms(site.host);
  workflow.renewed_since_boot_ns = site.host.clock.since_boot_ns();
}

base::Error contrary(const SwapMarker& swap, const std::string& recipe) {
  return {base::ErrorCode::kUnavailable, recipe,
          "EAgain: a swap to " + swap.recipe + " is under way, by " + describe(swap.holder)};
}

}  // namespace

base::Result<Workflow> add_lease(const Site& site, const NewLease& lease) {
  TRY(check(lease));
  const std::int64_t pid = TRY(checked_pid(site, lease.pid));
  Session session = TRY(Session::open(site));
  State& state = session.state();
  const bool cleared = TRY(session.reconcile());
  if (state.swap && state.swap->recipe != lease.recipe) return contrary(*state.swap, lease.recipe);
  Workflow wanted{.name = lease.name, .recipe = lease.recipe};
  wanted.owner = TRY(session.witness().identify(pid));
  wanted.ttl_seconds = lease.ttl_seconds;
  wanted.preemptible = lease.preemptible;
  if (lease.preemptible) {
    wanted.signal_name = lease.signal_path.empty()
                             ? made_up_signal_name(lease.name, wanted.owner.nonce)
                             : TRY(signal_name_of(site.place, lease.signal_path));
  }
  const bool swept = TRY(session.sweep());
  const auto room = make_room(site, session, wanted);
  if (!room) {
    if (cleared || swept) TRY(session.save());
    return base::Error(room.error().code(), room.error().where(), room.error().message());
  }
  renew_at(site, wanted);
  wanted.started_at_ns = wanted.last_renewed_at_ns;
  state.workflows.push_back(wanted);
  TRY(session.save());
  return wanted;
}

base::Result<Workflow> renew_lease(const Site& site, std::string_view name, const Claim& claim) {
  Session session = TRY(reconciled(site));
  Workflow* const workflow = session.state().find(name);
  if (workflow == nullptr) return not_found(name);
  TRY(check_claim(site, session, *workflow, claim));
  // Whoever comes too late is told so, whether or not somebody has swept in the meantime.
  if (TRY(standing_of(site, session.witness(), *workflow)) != Standing::kLive)
    return base::Error(base::ErrorCode::kNotFound, workflow->name, "has expired; register again");
  renew_at(site, *workflow);
  TRY(session.save());
  return *workflow;
}

base::Result<bool> release_lease(const Site& site, std::string_view name, const Claim& claim) {
  Session session = TRY(reconciled(site));
  const Workflow* const workflow = session.state().find(name);
  if (workflow == nullptr) return false;
  TRY(check_claim(site, session, *workflow, claim));
  TRY(remove_signal(site, *workflow));
  std::erase_if(session.state().workflows, [&](const Workflow& each) { return each.name == name; });
  TRY(session.save());
  return true;
}

base::Result<void> request_preempt(const Site& site, std::string_view name) {
  Session session = TRY(reconciled(site));
  Workflow* const workflow = session.state().find(name);
  if (workflow == nullptr) return not_found(name);
  if (!workflow->preemptible)
    return base::Error(base::ErrorCode::kConflict, workflow->name, "is not preemptible");
  // Also one that a swap has asked: the operator's request stays when the swap is aborted.
  if (workflow->preempt_requested_by != kOperator) {
    workflow->preempt_requested_by = kOperator;
    TRY(session.save());
    Identity who = TRY(session.witness().identify(site.host.process.id()));
    who.nonce.clear();  // it is no swap's
    TRY(append(site, {.event = SwapEvent::kPreemptRequested,
                      .who = std::move(who),
                      .workflows = {workflow->name}}));
  }
  return raise_signal(site, *workflow, "");
}

base::Result<bool> is_preempt_requested(const Site& site, std::string_view name) {
  // Reconciled: what a dead coordinator asked nobody asks any more.
  State state = TRY(reconciled_state(site));
  const Workflow* const workflow = state.find(name);
  if (workflow == nullptr) return not_found(name);
  if (!workflow->preemptible) return false;
  return is_signalled(site, workflow->signal_name);
}

base::Result<bool> clear_preempt(const Site& site, std::string_view name, const Claim& claim) {
  Session session = TRY(reconciled(site));
  Workflow* const workflow = session.state().find(name);
  if (workflow == nullptr) return not_found(name);
  TRY(check_claim(site, session, *workflow, claim));
  const bool asked = workflow->preemptible && TRY(is_signalled(site, workflow->signal_name));
  TRY(remove_signal(site, *workflow));
  if (!workflow->preempt_requested_by.empty()) {
    workflow->preempt_requested_by.clear();
    TRY(session.save());
  }
  return asked;
}

}  // namespace holdfast::registry
