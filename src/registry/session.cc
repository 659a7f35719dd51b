// SPDX-License-Identifier: Apache-2.0
#include "registry/session.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "registry/not_busy.h"
#include "registry/signals.h"
#include "registry/state_cache.h"
#include "registry/swap_log.h"

namespace holdfast::registry {
namespace {

constexpr std::int64_t kFirstPause_ns = 200'000;
constexpr std::int64_t kLongestPause_ns = 20'000'000;

// Who waits asks again after a while that grows, and differs from everybody else's.
base::Result<std::unique_ptr<env::FileLock>> wait_for_lock(const Site& site, Access access) {
  const Host& host = site.host;
  const std::int64_t deadline = later(host.clock.since_boot_ns(), site.lock_timeout_ns);
  std::int64_t pause = kFirstPause_ns;
  for (;;) {
    auto lock = access == Access::kLook
                    ? host.disk.lock_to_look(site.place.lock())
                    : host.disk.lock(site.place.lock(), env::describe(host.process));
    if (access == Access::kLook && !lock && lock.error().code() == base::ErrorCode::kNotFound)
      lock = host.disk.lock(site.place.lock(), env::describe(host.process));
    if (lock || lock.error().code() != base::ErrorCode::kConflict) return not_busy(std::move(lock));
    if (host.clock.since_boot_ns() >= deadline) {
      return base::Error(base::ErrorCode::kUnavailable, site.place.lock(),
                         "others have had the lock all the time; it " + lock.error().message());
    }
    host.sleep(pause / 2 + static_cast<std::int64_t>(host.random.next_u64() %
                                                     static_cast<std::uint64_t>(pause)));
    pause = std::min(pause * 2, kLongestPause_ns);
  }
}

// With the folders above it, each durable in the one above.
base::Result<void> make_folder(env::Disk& disk, const std::string& path) {
  auto made = disk.make_directory(path);
  if (!made && made.error().code() == base::ErrorCode::kNotFound && env::parent_of(path) != path) {
    TRY(make_folder(disk, env::parent_of(path)));
    made = disk.make_directory(path);
  }
  TRY(std::move(made));
  return disk.sync_directory(env::parent_of(path));
}

// One copy of each file that was found, however often it is.
base::Error put_copy_aside(const Site& site, const StateFile& file, const base::Error& why) {
  const std::string hash = base::sha256(base::as_bytes(file.bytes)).to_text();
  const std::string copy = site.place.state() + ".corrupt-" + hash.substr(hash.find(':') + 1, 12);
  std::string told = "; it is left as it is, and a copy " +
                     std::string(file.is_whole() ? "" : "of its beginning ") + "is in " + copy;
  if (!site.host.disk.open(copy, env::OpenMode::kRead)) {
    const auto kept = env::replace_file(site.host.disk, copy, base::as_bytes(file.bytes));
    if (!kept)
      told = "; it is left as it is, and no copy could be made: " + kept.error().to_string();
  }
  return {base::ErrorCode::kCorrupt, site.place.state() + ": " + why.where(), why.message() + told};
}

base::Result<bool> is_swap_lock_held(const Site& site) {
  const auto probe = not_busy(site.host.disk.lock_to_look(site.place.swap_lock()));
  if (probe) return false;
  switch (probe.error().code()) {
    case base::ErrorCode::kConflict: return true;
    case base::ErrorCode::kNotFound: return false;
    default:
      return base::Error(probe.error().code(), probe.error().where(), probe.error().message());
  }
}

}  // namespace

base::Result<std::optional<StateFile>> read_state_file(const Site& site) {
  const auto opened = not_busy(site.host.disk.open(site.place.state(), env::OpenMode::kRead));
  if (!opened) {
    if (opened.error().code() == base::ErrorCode::kNotFound) return std::optional<StateFile>();
    return base::Error(opened.error().code(), opened.error().where(), opened.error().message());
  }
  StateFile file;
  file.size = TRY((*opened)->size());
  file.bytes.resize(std::min<std::uint64_t>(file.size, kMaxStateBytes));
  TRY(env::read_all(**opened, 0,
                    {reinterpret_cast<std::uint8_t*>(file.bytes.data()), file.bytes.size()}));
  return std::optional(std::move(file));
}

base::Result<State> parse_state(const StateFile& file) {
  if (file.is_whole()) return parse_state(file.bytes);
  return base::Error(base::ErrorCode::kCorrupt, "$",
                     "is " + std::to_string(file.size) + " bytes long; no state has more than " +
                         std::to_string(kMaxStateBytes));
}

base::Result<State> read_state(const Site& site) {
  const auto file = TRY(read_state_file(site));
  if (!file) return State{};
  auto state = parse_state(*file);
  if (!state) return std::move(state).error().within(site.place.state());
  return state;
}

base::Result<Standing> standing_of(const Site& site, const Witness& witness,
                                   const Workflow& workflow) {
  if (TRY(witness.life_of(workflow.owner)) == Life::kDead) return Standing::kDead;
  const std::int64_t age = site.host.clock.since_boot_ns() - workflow.renewed_since_boot_ns;
  return age > workflow.ttl_seconds * 1'000'000'000 ? Standing::kExpired : Standing::kLive;
}

Session::Session(const Site& site, std::unique_ptr<env::FileLock> lock)
    : site_(&site), lock_(std::move(lock)), witness_(std::make_unique<Witness>(site.host)) {}

base::Result<Session> Session::open(const Site& site, Access access) {
  auto lock = wait_for_lock(site, access);
  if (!lock && access == Access::kChange && lock.error().code() == base::ErrorCode::kNotFound) {
    TRY(not_busy(make_folder(site.host.disk, site.place.folder)));
    lock = wait_for_lock(site, access);
  }
  auto held = TRY(std::move(lock));
  Session session(site, std::move(held));
  const auto file = TRY(read_state_file(site));
  if (!file) return session;
  if (auto known = site.cache != nullptr ? site.cache->find(file->bytes) : std::nullopt) {
    session.state_ = std::move(*known);
    return session;
  }
  auto state = parse_state(*file);
  if (!state) return put_copy_aside(site, *file, state.error());
  session.state_ = std::move(*state);
  return session;
}

base::Result<std::optional<std::string>> Session::orphaned() const {
  using Why = std::optional<std::string>;
  if (!state_.swap) return Why();
  // Both are asked: a forked child keeps the lock of a dead holder, and a holder may live on
  // without it.
  if (TRY(witness_->life_of(state_.swap->holder)) == Life::kDead)
    return Why(describe(state_.swap->holder) + " has ended");
  if (!TRY(is_swap_lock_held(*site_)))
    return Why(describe(state_.swap->holder) + " does not hold the swap lock");
  return Why();
}

base::Result<bool> Session::reconcile() {
  auto why = TRY(orphaned());
  if (!why) return false;
  return clear(std::move(*why));
}

base::Result<bool> Session::reconcile_as_coordinator() {
  if (!state_.swap) return false;
  return clear(describe(state_.swap->holder) + " does not hold the swap lock");
}

base::Result<bool> Session::clear(std::string reason) {
  const SwapMarker& swap = *state_.swap;
  // In this order a crash leaves the marker, and whoever comes next does it again; but the line
  // is written once.
  TRY(withdraw_signals(*site_, state_, swap.id()));
  const auto is_known = is_logged(*site_, SwapEvent::kOrphanCleared, swap.id());
  if (!is_known || !*is_known) {
    // What keeps it from being logged is what `registry doctor` shows.
    static_cast<void>(append_or_begin_anew(*site_, {.event = SwapEvent::kOrphanCleared,
                                                    .recipe = swap.recipe,
                                                    .who = swap.holder,
                                                    .reason = std::move(reason)})
                          .has_value());
  }
  state_.swap.reset();
  return true;
}

base::Result<bool> Session::sweep() {
  std::vector<Workflow> kept;
  kept.reserve(state_.workflows.size());
  for (Workflow& workflow : state_.workflows) {
    if (TRY(standing_of(*site_, *witness_, workflow)) == Standing::kLive) {
      kept.push_back(std::move(workflow));
    } else {
      // Before the entry is gone: nobody would know of the file afterwards.
      TRY(remove_signal(*site_, workflow));
    }
  }
  const bool changed = kept.size() != state_.workflows.size();
  state_.workflows = std::move(kept);
  return changed;
}

base::Result<void> Session::save() {
  std::string json = TRY(to_json(state_));
  TRY(not_busy(env::replace_file(site_->host.disk, site_->place.state(), base::as_bytes(json))));
  if (site_->cache != nullptr) site_->cache->keep(std::move(json), state_);
  return {};
}

}  // namespace holdfast::registry
