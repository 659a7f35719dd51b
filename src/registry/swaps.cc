// SPDX-License-Identifier: Apache-2.0
#include "registry/swaps.h"

#include <algorithm>
#include <utility>

#include "registry/not_busy.h"
#include "registry/session.h"
#include "registry/signals.h"
#include "registry/swap_log.h"

namespace holdfast::registry {
namespace {

constexpr std::int64_t kPause_ns = 50'000'000;
constexpr std::size_t kMostNamedInError = 10;

std::vector<std::string> names_of(const std::vector<Workflow>& workflows) {
  std::vector<std::string> names;
  names.reserve(workflows.size());
  for (const Workflow& workflow : workflows) names.push_back(workflow.name);
  return names;
}

std::string listed(const std::vector<Workflow>& workflows) {
  std::string text;
  for (std::size_t i = 0; i < workflows.size() && i < kMostNamedInError; ++i) {
    text += (i == 0 ? "" : ", ") + workflows[i].name + " (" + workflows[i].recipe + ", " +
            describe(workflows[i].owner) + ")";
  }
  if (workflows.size() > kMostNamedInError)
    text += " and " + std::to_string(workflows.size() - kMostNamedInError) + " more";
  return text;
}

// For the end of a message: what the log does not say is said here.
std::string unless_logged(const std::optional<base::Error>& not_logged) {
  return not_logged ? "; and this could not be logged: " + not_logged->to_string() : "";
}

base::Error busy(const Site& site, const base::Error& lock, const std::optional<SwapMarker>& swap) {
  if (swap) {
    return {base::ErrorCode::kUnavailable, swap->recipe,
            "busy: a swap to it is under way, by " + describe(swap->holder)};
  }
  // Nobody has a marker, so no coordinator that is alive has the lock: see session.h.
  return {base::ErrorCode::kUnavailable, site.place.swap_lock(),
          "busy: " + lock.message() +
              "; no swap is under way, so a child of a dead coordinator may have kept the lock"};
}

// A begin that is refused leaves the state reconciled, and a line.
base::Error refused_by(const Site& site, Session& session, const std::string& recipe,
                       const Identity& who, const std::vector<Workflow>& unyielding, bool changed) {
  if (changed) {
    auto saved = session.save();
    if (!saved) return std::move(saved).error();
  }
  auto logged = append(site, {.event = SwapEvent::kRefused,
                              .recipe = recipe,
                              .who = who,
                              .reason = "not preemptible",
                              .workflows = names_of(unyielding)});
  std::optional<base::Error> not_logged;
  if (!logged) not_logged = std::move(logged).error();
  return {base::ErrorCode::kConflict, recipe,
          "workflows that are not preemptible need another recipe: " + listed(unyielding) +
              unless_logged(not_logged)};
}

// After the marker is there, so that whoever finds it an orphan withdraws the signals.
// Also those that an operator has asked: that may have ended before there was a signal.
base::Result<void> tell(const Site& site, const State& state,
                        const std::vector<std::string>& asked) {
  const SwapMarker& swap = *state.swap;
  TRY(append(site, {.event = SwapEvent::kBegun, .recipe = swap.recipe, .who = swap.holder}));
  if (!asked.empty()) {
    TRY(append(site, {.event = SwapEvent::kPreemptRequested,
                      .recipe = swap.recipe,
                      .who = swap.holder,
                      .workflows = asked}));
  }
  for (const Workflow& workflow : state.workflows) {
    if (workflow.recipe != swap.recipe && !workflow.preempt_requested_by.empty())
      TRY(raise_signal(site, workflow, swap.recipe));
  }
  return {};
}

// Puts the marker there, and asks. One durable write.
base::Result<HeldSwap> take(const Site& site, const std::string& recipe) {
  Session session = TRY(Session::open(site));
  State& state = session.state();
  Identity who = TRY(session.witness().identify(site.host.process.id()));
  // Inside the session, where nobody probes it: whoever has it now is a coordinator. Nobody waits
  // for the swap lock, so the order of the two locks cannot matter.
  auto lock =
      not_busy(site.host.disk.lock(site.place.swap_lock(), env::describe(site.host.process)));
  if (!lock) {
    if (lock.error().code() != base::ErrorCode::kConflict)
      return base::Error(lock.error().code(), lock.error().where(), lock.error().message());
    if (TRY(session.reconcile())) TRY(session.save());
    return busy(site, lock.error(), state.swap);
  }
  bool changed = TRY(session.reconcile_as_coordinator());
  changed = TRY(session.sweep()) || changed;
  const auto conflicts = TRY(conflicts_with(site, session.witness(), state, recipe));
  std::vector<Workflow> unyielding = conflicts;
  std::erase_if(unyielding, [](const Workflow& each) { return each.preemptible; });
  if (!unyielding.empty()) return refused_by(site, session, recipe, who, unyielding, changed);
  state.swap = SwapMarker{.recipe = recipe, .holder = who};
  state.swap->started_at_ns = wall_in_whole_ms(site.host);
  std::vector<std::string> asked;
  for (const Workflow& conflict : conflicts) {
    Workflow& workflow = *state.find(conflict.name);
    if (!workflow.preempt_requested_by.empty()) continue;
    workflow.preempt_requested_by = who.nonce;
    asked.push_back(workflow.name);
  }
  TRY(session.save());
  HeldSwap held(recipe, who, std::move(*lock));
  auto told = tell(site, state, asked);
  if (told) return held;
  // As far as it goes: what is left is an orphan's, and is cleared as such.
  if (withdraw_signals(site, state, who.nonce)) {
    state.swap.reset();
    static_cast<void>(session.save().has_value());
  }
  return std::move(told).error();
}

// Nothing: all have yielded, or ended. Nobody who needs another recipe is admitted while the marker
// is there, so those who are left become only fewer.
base::Result<std::vector<Workflow>> still_there(const Site& site, const std::string& recipe) {
  const Witness witness(site.host);
  // Without the lock, which others need more. But somebody may have renewed since the file was
  // read and look expired now: that nobody is left is only seen with the lock.
  const State state = TRY(read_state(site));
  auto left = TRY(conflicts_with(site, witness, state, recipe));
  if (!left.empty()) return left;
  Session session = TRY(Session::open(site));
  return conflicts_with(site, session.witness(), session.state(), recipe);
}

base::Result<std::vector<Workflow>> wait_for_yielding(const Site& site, const NewSwap& swap) {
  const std::int64_t deadline = later(site.host.clock.since_boot_ns(), swap.deadline_ns);
  for (;;) {
    auto left = TRY(still_there(site, swap.recipe));
    const std::int64_t now = site.host.clock.since_boot_ns();
    if (left.empty() || now >= deadline || (swap.is_given_up && swap.is_given_up())) return left;
    site.host.sleep(std::min(kPause_ns, deadline - now));
  }
}

}  // namespace

HeldSwap::HeldSwap(std::string recipe, Identity holder, std::unique_ptr<env::FileLock> lock)
    : recipe_(std::move(recipe)), holder_(std::move(holder)), lock_(std::move(lock)) {}

base::Result<Ending> HeldSwap::finish(const Site& site) { return end(site, End::kFinished, ""); }

base::Result<Ending> HeldSwap::abort(const Site& site, const std::string& reason) {
  return end(site, End::kAborted, reason);
}

base::Result<Ending> HeldSwap::end(const Site& site, End how, const std::string& reason) {
  if (is_over()) return base::Error(base::ErrorCode::kConflict, recipe_, "the swap is over");
  // A child has a copy of everything, and may come by here when it ends.
  if (site.host.process.id() != holder_.pid)
    return base::Error(base::ErrorCode::kConflict, recipe_, "the swap is another process's");
  Session session = TRY(Session::open(site));
  State& state = session.state();
  // A save that failed may have done its work, all but to make it durable.
  const bool cleared_before = is_clearing_ && !state.swap;
  if (!cleared_before && (!state.swap || state.swap->id() != id())) {
    lock_.reset();
    return base::Error(base::ErrorCode::kConflict, recipe_,
                       "somebody has cleared the marker of this swap");
  }
  TRY(withdraw_signals(site, state, id()));
  TRY(session.sweep());
  state.swap.reset();
  is_clearing_ = true;
  TRY(session.save());
  // Still in the session: see the invariant there.
  lock_.reset();
  auto logged =
      append(site, {.event = how == End::kFinished ? SwapEvent::kFinished : SwapEvent::kAborted,
                    .recipe = recipe_,
                    .who = holder_,
                    .reason = reason});
  Ending ending;
  if (!logged) ending.not_logged = std::move(logged).error();
  return ending;
}

base::Result<HeldSwap> begin_swap(const Site& site, const NewSwap& swap) {
  TRY(check_name("recipe", swap.recipe));
  HeldSwap held = TRY(take(site, swap.recipe));
  auto left = wait_for_yielding(site, swap);
  if (left && left->empty()) return held;
  const bool given_up = left && swap.is_given_up && swap.is_given_up();
  const std::string why = !left      ? left.error().to_string()
                          : given_up ? std::string("given up")
                                     : "not yielded in time: " + listed(*left);
  const Ending ending = TRY(held.abort(site, why));
  if (!left) return std::move(left).error();
  return base::Error(base::ErrorCode::kUnavailable, swap.recipe,
                     (given_up ? "busy: given up while workflows had not yielded: "
                               : "busy: workflows have not yielded in time: ") +
                         listed(*left) + unless_logged(ending.not_logged));
}

base::Result<std::vector<Workflow>> conflicts_with(const Site& site, const Witness& witness,
                                                   const State& state, std::string_view recipe) {
  std::vector<Workflow> conflicts;
  for (const Workflow& workflow : state.workflows) {
    if (workflow.recipe != recipe && TRY(standing_of(site, witness, workflow)) == Standing::kLive)
      conflicts.push_back(workflow);
  }
  return conflicts;
}

}  // namespace holdfast::registry
