// SPDX-License-Identifier: Apache-2.0
#include "worker/recipes.h"

#include <algorithm>
#include <utility>

#include "errors/translate.h"
#include "worker/limits.h"
#include "worker/swapping.h"

namespace holdfast::work {
namespace {

constexpr std::int64_t kRecipeNsOfMs = 1'000'000;

// Leases are looked at this often for requests to yield.
constexpr std::int64_t kLookNs = 250 * kRecipeNsOfMs;

constexpr std::chrono::seconds kLeaseTtl(60);
constexpr std::int64_t kRenewNs = 20'000 * kRecipeNsOfMs;

// The loop waits for the lock of the registry, which others hold for moments only.
constexpr std::chrono::milliseconds kRegistryLockTimeout(2000);

// After a swap that was not done, doubled each time.
constexpr std::int64_t kFirstPauseNs = 2'000 * kRecipeNsOfMs;
constexpr std::int64_t kLongestPauseNs = 60'000 * kRecipeNsOfMs;

// Until it is looked again whether the swap of another process is over.
constexpr std::int64_t kBlockedNs = 1'000 * kRecipeNsOfMs;

constexpr std::size_t kMaxLeaseNameBytes = 255;
constexpr std::size_t kMaxProblemBytes = 1024;

// For people who look at the registry. The key is unique where the name is too long.
std::string lease_name(const Task& task) {
  std::string name = task.graph + "/" + task.name;
  return name.size() <= kMaxLeaseNameBytes ? name : task.key;
}

}  // namespace

base::Result<std::unique_ptr<Recipes>> Recipes::open(RecipeOptions options, env::Clock& clock) {
  if (options.recipes.empty())
    return base::invalid("registry", "is only for a worker that names its recipes");
  auto registry = Registry::open({.dir = options.registry, .lock_timeout = kRegistryLockTimeout});
  if (!registry) return errors::inside(registry.error());
  // A folder that cannot be read is said now, and not at the first task.
  if (const auto view = (*registry)->list(); !view) return errors::inside(view.error());
  return std::unique_ptr<Recipes>(new Recipes(std::move(options), clock, std::move(*registry)));
}

Recipes::Recipes(RecipeOptions options, env::Clock& clock, std::shared_ptr<Registry> registry)
    : options_(std::move(options)), clock_(clock), registry_(std::move(registry)) {
  report_.can_swap = can_swap();
  if (!can_swap()) report_.serving = options_.recipes;
}

Recipes::~Recipes() {
  swapping_.reset();
  // If one cannot be released, it ends with this process.
  for (auto& [dispatch, held] : held_) static_cast<void>(static_cast<bool>(held.lease.release()));
  if (standing_) static_cast<void>(static_cast<bool>(standing_->release()));
}

void Recipes::say(const std::string& text) const {
  if (options_.log) options_.log(text);
}

base::Result<void> Recipes::admit(const Task& task) {
  if (task.recipe.empty()) return {};
  if (std::ranges::find(report_.serving, task.recipe) == report_.serving.end())
    return base::Error(base::ErrorCode::kUnavailable, task.recipe, "is not served now");
  auto lease = registry_->take_lease({.name = lease_name(task),
                                      .recipe = task.recipe,
                                      .ttl = kLeaseTtl,
                                      .preemptible = task.is_preemptible});
  if (!lease) {
    // No more work of this kind is asked for until the registry admits it again.
    stop_serving(lease.error().message);
    return errors::inside(lease.error());
  }
  held_.emplace(task.dispatch, Held{std::move(*lease), task.recipe, task.is_preemptible});
  if (renew_at_ns_ == INT64_MAX) renew_at_ns_ = clock_.since_boot_ns() + kRenewNs;
  return {};
}

void Recipes::release(const std::string& dispatch) {
  const auto found = held_.find(dispatch);
  if (found == held_.end()) return;
  if (const auto released = found->second.lease.release(); !released)
    say("the lease of a task cannot be released, and ends after " +
        std::to_string(kLeaseTtl.count()) + " s: " + released.error().message);
  held_.erase(found);
}

void Recipes::drain() {
  is_draining_ = true;
  report_.can_swap = false;
  if (swapping_) swapping_->give_up();
}

void Recipes::serve(const std::string& recipe) {
  auto lease = registry_->take_lease({.name = "worker " + options_.worker,
                                      .recipe = recipe,
                                      .ttl = kLeaseTtl,
                                      .preemptible = true});
  if (!lease) return stop_serving(lease.error().message);
  standing_ = std::move(*lease);
  report_.serving = {recipe};
  report_.problem.clear();
  served_since_ns_ = clock_.since_boot_ns();
  renew_at_ns_ = std::min(renew_at_ns_, served_since_ns_ + kRenewNs);
}

void Recipes::stop_serving(const std::string& problem) {
  if (!report_.serving.empty() || report_.problem != problem)
    say("no recipe is served: " + problem);
  report_.serving.clear();
  report_.problem = plain_text(problem, kMaxProblemBytes);
  if (standing_) static_cast<void>(static_cast<bool>(standing_->release()));
  standing_.reset();
  if (!can_swap()) blocked_until_ns_ = clock_.since_boot_ns() + kBlockedNs;
}

void Recipes::renew(std::int64_t now_ns) {
  if (now_ns < renew_at_ns_) return;
  renew_at_ns_ = held_.empty() && !standing_ ? INT64_MAX : now_ns + kRenewNs;
  for (auto& [dispatch, held] : held_) {
    if (const auto renewed = held.lease.renew(); !renewed)
      say("the lease of a task cannot be renewed: " + renewed.error().message);
  }
  if (!standing_) return;
  const auto renewed = standing_->renew();
  // It was ended by an operator, or while this machine slept: another process may swap now.
  if (!renewed && renewed.error().code != ErrorCode::kUnavailable)
    stop_serving(renewed.error().message);
}

// Another process swaps: from now on it decides what is served.
void Recipes::look_at_standing() {
  if (!standing_) return;
  const auto asked = standing_->is_preempt_requested();
  if (asked && *asked) stop_serving("another process asked for the machine");
}

// Of a worker that cannot swap: whether the swap of another process is over.
void Recipes::look_at_blocked(std::int64_t now_ns) {
  if (now_ns < blocked_until_ns_) return;
  blocked_until_ns_ = now_ns + kBlockedNs;
  const auto view = registry_->list();
  if (!view || view->swap) return;
  blocked_until_ns_ = INT64_MAX;
  report_.serving = options_.recipes;
  report_.problem.clear();
}

std::vector<std::string> Recipes::asked_to_yield() {
  std::vector<std::string> asked;
  for (auto& [dispatch, held] : held_) {
    if (!held.is_preemptible || held.is_asked) continue;
    const auto requested = held.lease.is_preempt_requested();
    if (!requested || !*requested) continue;
    held.is_asked = true;
    asked.push_back(dispatch);
  }
  return asked;
}

bool Recipes::may_begin(std::int64_t now_ns) const {
  if (!can_swap() || is_draining_ || swapping_ || wanted_.empty()) return false;
  if (std::ranges::find(options_.recipes, wanted_) == options_.recipes.end()) return false;
  if (std::ranges::find(report_.serving, wanted_) != report_.serving.end()) return false;
  const auto paused = pauses_.find(wanted_);
  if (paused != pauses_.end() && now_ns < paused->second.until_ns) return false;
  const bool was_served_enough =
      now_ns - served_since_ns_ >= options_.preempt_after.count() * kRecipeNsOfMs;
  return std::ranges::all_of(held_, [&](const auto& each) {
    return each.second.recipe == wanted_ || (each.second.is_preemptible && was_served_enough);
  });
}

void Recipes::begin(std::int64_t now_ns) {
  say("swapping to the recipe " + wanted_);
  served_before_ = report_.serving.empty() ? "" : report_.serving.front();
  report_.serving.clear();
  report_.problem.clear();
  report_.swapping = wanted_;
  // The swap would wait for it.
  if (standing_) static_cast<void>(static_cast<bool>(standing_->release()));
  standing_.reset();
  for (auto& [dispatch, held] : held_) held.is_asked = false;
  look_at_ns_ = now_ns;
  swapping_ = std::make_unique<Swapping>(registry_, SwapPlan{.recipe = wanted_,
                                                             .command = options_.swap_command,
                                                             .deadline = options_.swap_deadline,
                                                             .wake = options_.wake});
}

void Recipes::pause(const std::string& recipe, std::int64_t now_ns) {
  Pause& paused = pauses_[recipe];
  paused.length_ns = std::clamp(paused.length_ns * 2, kFirstPauseNs, kLongestPauseNs);
  paused.until_ns = now_ns + paused.length_ns;
}

void Recipes::end(std::int64_t now_ns) {
  for (const std::string& line : swapping_->take_lines()) say("swap: " + line);
  if (!swapping_->is_over()) return;
  const auto over = std::move(swapping_);
  const std::string problem = plain_text(over->problem(), kMaxProblemBytes);
  report_.swapping.clear();
  if (over->end() == Swapping::End::kDone) {
    say("the recipe " + over->recipe() + " is served");
    pauses_.erase(over->recipe());
    return serve(over->recipe());
  }
  say("the swap to " + over->recipe() + " was not done: " + problem);
  pause(over->recipe(), now_ns);
  if (over->end() == Swapping::End::kNotBegun && !served_before_.empty()) {
    const std::int64_t since = served_since_ns_;
    serve(served_before_);
    served_since_ns_ = since;
  }
  report_.problem = problem;
}

std::vector<std::string> Recipes::go_on() {
  const std::int64_t now = clock_.since_boot_ns();
  if (swapping_) end(now);
  renew(now);
  look_at_blocked(now);
  if (now >= look_at_ns_) {
    look_at_ns_ = now + kLookNs;
    look_at_standing();
    if (may_begin(now)) begin(now);
    return asked_to_yield();
  }
  return {};
}

std::int64_t Recipes::due_ns() const {
  const bool looks = standing_ || !held_.empty() || !wanted_.empty() || swapping_;
  return std::min({looks ? look_at_ns_ : INT64_MAX, renew_at_ns_, blocked_until_ns_});
}

}  // namespace holdfast::work
