// SPDX-License-Identifier: Apache-2.0
#include "holdfast/registry.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "env/posix_disk.h"
#include "errors/translate.h"
#include "registry/doctor.h"
#include "registry/leases.h"
#include "registry/list.h"
#include "registry/signals.h"
#include "registry/state_cache.h"
#include "registry/swaps.h"

namespace holdfast {
namespace {

using errors::outside;
using registry::Claim;

// A hundred years are for ever, and can be counted.
std::int64_t in_ns(std::chrono::milliseconds time) {
  constexpr std::chrono::hours kForEver(100 * 365 * 24);
  return std::chrono::nanoseconds(std::min<std::chrono::milliseconds>(time, kForEver)).count();
}

Result<Done> outside(const base::Result<void>& result) {
  if (!result) return outside(result.error());
  return Done{};
}

Result<bool> outside(const base::Result<bool>& result) {
  if (!result) return outside(result.error());
  return *result;
}

Result<SwapEnd> outside(const base::Result<registry::Ending>& ended) {
  if (!ended) return outside(ended.error());
  return SwapEnd{.not_logged = ended->not_logged ? ended->not_logged->to_string() : ""};
}

Claim inside(const LeaseClaim& claim) {
  return {.pid = claim.pid, .nonce = claim.nonce, .is_operator = claim.is_operator};
}

LeaseStanding outside(registry::Standing standing) {
  switch (standing) {
    case registry::Standing::kLive: return LeaseStanding::kLive;
    case registry::Standing::kDead: return LeaseStanding::kDead;
    case registry::Standing::kExpired: break;
  }
  return LeaseStanding::kExpired;
}

void sleep_ns(std::int64_t nanoseconds) {
  const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  // A signal that is caught ends it early, and one that is held back does not. Either way whoever
  // waits looks at the clock, and whether to give up, again: so nobody sleeps for long at once.
  ::nanosleep(&time, nullptr);
}

}  // namespace

struct Registry::Body {
  const std::unique_ptr<env::Disk> disk = env::posix_disk(env::Readers::kAnybody);
  const std::unique_ptr<env::Clock> clock = env::posix_clock();
  const std::unique_ptr<env::Random> random = env::posix_random();
  const std::unique_ptr<env::Process> process = env::posix_process();
  const std::unique_ptr<env::ProcessTable> processes = env::posix_process_table();
  registry::StateCache cache;
  registry::Site site;

  Body(std::string folder, std::chrono::milliseconds lock_timeout)
      : site{.host = {*disk, *clock, *random, *process, *processes, &sleep_ns},
             .place = {std::move(folder)},
             .lock_timeout_ns = in_ns(lock_timeout),
             .cache = &cache} {}

  LeaseView view_of(const registry::Workflow& workflow, registry::Standing standing) const {
    return {.name = workflow.name,
            .recipe = workflow.recipe,
            .owner_pid = workflow.owner.pid,
            .owner_start_ns = workflow.owner.start_ns,
            .nonce = workflow.owner.nonce,
            .started_at_ns = workflow.started_at_ns,
            .last_renewed_at_ns = workflow.last_renewed_at_ns,
            .ttl = std::chrono::seconds(workflow.ttl_seconds),
            .preemptible = workflow.preemptible,
            .signal_path = workflow.preemptible ? site.place.signal(workflow.signal_name) : "",
            .preempt_requested_by = workflow.preempt_requested_by,
            .standing = outside(standing)};
  }
};

struct Swap::Body {
  std::shared_ptr<Registry> registry;
  registry::HeldSwap held;
};

Registry::Registry(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Registry::~Registry() = default;

Result<std::shared_ptr<Registry>> Registry::open(RegistryOptions options) {
  if (options.dir.empty()) return Error{ErrorCode::kInvalid, "dir: is empty"};
  std::error_code problem;
  // Whole: a signal path is for processes that may be in other folders.
  std::filesystem::path folder = std::filesystem::absolute(options.dir, problem);
  if (problem) return Error{ErrorCode::kIo, options.dir + ": " + problem.message()};
  std::string path = folder.lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  auto body = std::make_unique<Body>(std::move(path), options.lock_timeout);
  return std::shared_ptr<Registry>(new Registry(std::move(body)));
}

const std::string& Registry::dir() const noexcept { return body_->site.place.folder; }

Result<Lease> Registry::take_lease(LeaseOptions options) {
  const std::int64_t pid = options.pid;
  const auto added =
      registry::add_lease(body_->site, {.name = std::move(options.name),
                                        .recipe = std::move(options.recipe),
                                        .ttl_seconds = options.ttl.count(),
                                        .preemptible = options.preemptible,
                                        .signal_path = std::move(options.signal_path),
                                        .pid = pid});
  if (!added) return outside(added.error());
  const LeaseView view = body_->view_of(*added, registry::Standing::kLive);
  return Lease(shared_from_this(), view.name, view.nonce, view.signal_path, pid);
}

Result<Done> Registry::renew(std::string_view name, const LeaseClaim& claim) {
  const auto renewed = registry::renew_lease(body_->site, name, inside(claim));
  if (!renewed) return outside(renewed.error());
  return Done{};
}

Result<bool> Registry::release(std::string_view name, const LeaseClaim& claim) {
  return outside(registry::release_lease(body_->site, name, inside(claim)));
}

Result<RegistryView> Registry::list() {
  const auto listing = registry::list(body_->site);
  if (!listing) return outside(listing.error());
  RegistryView view;
  for (const registry::Listed& each : listing->workflows)
    view.workflows.push_back(body_->view_of(each.workflow, each.standing));
  if (listing->swap) {
    const registry::SwapMarker& swap = *listing->swap;
    view.swap = SwapView{.id = swap.id(),
                         .recipe = swap.recipe,
                         .holder_pid = swap.holder.pid,
                         .holder_start_ns = swap.holder.start_ns,
                         .started_at_ns = swap.started_at_ns};
  }
  return view;
}

Result<Swap> Registry::begin_swap(SwapOptions options) {
  auto held = registry::begin_swap(body_->site, {.recipe = std::move(options.recipe),
                                                 .deadline_ns = in_ns(options.deadline),
                                                 .is_given_up = std::move(options.is_given_up)});
  if (!held) return outside(held.error());
  return Swap(std::unique_ptr<Swap::Body>(new Swap::Body{shared_from_this(), std::move(*held)}));
}

Result<Done> Registry::request_preempt(std::string_view name) {
  return outside(registry::request_preempt(body_->site, name));
}

Result<bool> Registry::is_preempt_requested(std::string_view name) {
  return outside(registry::is_preempt_requested(body_->site, name));
}

Result<bool> Registry::clear_preempt(std::string_view name, const LeaseClaim& claim) {
  return outside(registry::clear_preempt(body_->site, name, inside(claim)));
}

Result<std::vector<RegistryFinding>> Registry::diagnose() {
  auto findings = registry::diagnose(body_->site);
  if (!findings) return outside(findings.error());
  std::vector<RegistryFinding> told;
  for (registry::Finding& each : *findings) {
    told.push_back({std::move(each.place), std::move(each.problem), std::move(each.remedy),
                    each.needs_somebody});
  }
  return told;
}

Lease::Lease(std::shared_ptr<Registry> registry, std::string name, std::string nonce,
             std::string signal_path, std::int64_t pid)
    : registry_(std::move(registry)),
      name_(std::move(name)),
      nonce_(std::move(nonce)),
      signal_path_(std::move(signal_path)),
      pid_(pid) {}

Result<Done> Lease::renew() { return registry_->renew(name_, {.pid = pid_, .nonce = nonce_}); }

Result<bool> Lease::release() {
  // Whoever took it for another process may give it back, also when that has ended.
  return registry_->release(name_, {.pid = pid_, .nonce = nonce_, .is_operator = pid_ != 0});
}

Result<bool> Lease::is_preempt_requested() const {
  if (signal_path_.empty()) return false;
  const registry::Site& site = registry_->body_->site;
  const auto name = registry::signal_name_of(site.place, signal_path_);
  if (!name) return outside(name.error());
  // Most often there is no file, and that is all there is to know.
  const auto signalled = registry::is_signalled(site, *name);
  if (!signalled || !*signalled) return outside(signalled);
  return registry_->is_preempt_requested(name_);
}

Result<bool> Lease::clear_preempt() {
  return registry_->clear_preempt(name_, {.pid = pid_, .nonce = nonce_});
}

Swap::Swap(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Swap::Swap(Swap&&) noexcept = default;

Swap& Swap::operator=(Swap&& other) noexcept {
  std::swap(body_, other.body_);
  return *this;
}

Swap::~Swap() {
  if (!body_ || body_->held.is_over()) return;
  // If it cannot be written, the marker is nobody's as soon as the lock is gone, which is now.
  static_cast<void>(static_cast<bool>(abort("let go before it was finished")));
}

const std::string& Swap::id() const noexcept { return body_->held.id(); }
const std::string& Swap::recipe() const noexcept { return body_->held.recipe(); }

Result<SwapEnd> Swap::finish() { return outside(body_->held.finish(body_->registry->body_->site)); }

Result<SwapEnd> Swap::abort(std::string_view reason) {
  return outside(body_->held.abort(body_->registry->body_->site, std::string(reason)));
}

}  // namespace holdfast
