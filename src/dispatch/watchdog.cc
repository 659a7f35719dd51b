// SPDX-License-Identifier: Apache-2.0
#include "dispatch/watchdog.h"

#include <algorithm>
#include <utility>

namespace holdfast::dispatch {

void Watchdog::put(std::string_view worker, Stage stage, std::uint64_t due_ns,
                   std::optional<std::uint64_t> heard_ns) {
  const auto [at, is_new] = all_.try_emplace(std::string(worker));
  if (!is_new) due_.erase({at->second.due_ns, at->first});
  at->second = {stage, due_ns, heard_ns};
  due_.emplace(due_ns, at->first);
}

void Watchdog::expect(std::string_view worker, bool holds_work, std::uint64_t now_ns) {
  notice_pause(now_ns);
  const std::uint64_t grace = options_.ttl_ns + options_.grace_ns;
  put(worker, Stage::kSilent,
      now_ns + (holds_work ? std::max(grace, options_.rehydration_ns) : grace), std::nullopt);
}

bool Watchdog::heard(std::string_view worker, std::uint64_t now_ns) {
  notice_pause(now_ns);
  const bool was_live = is_live(worker);
  put(worker, Stage::kLive, now_ns + options_.ttl_ns, now_ns);
  return !was_live;
}

void Watchdog::forget(std::string_view worker) {
  const auto at = all_.find(worker);
  if (at == all_.end()) return;
  due_.erase({at->second.due_ns, at->first});
  all_.erase(at);
}

void Watchdog::try_again(std::string_view worker, std::uint64_t now_ns, std::uint64_t after_ns) {
  if (all_.contains(worker)) return;  // it was heard meanwhile
  put(worker, Stage::kSilent, now_ns + after_ns, std::nullopt);
}

bool Watchdog::is_live(std::string_view worker) const {
  const auto at = all_.find(worker);
  return at != all_.end() && at->second.stage == Stage::kLive;
}

std::optional<std::uint64_t> Watchdog::heard_ns(std::string_view worker) const {
  const auto at = all_.find(worker);
  return at == all_.end() ? std::nullopt : at->second.heard_ns;
}

// Before anything is due by the new time: a worker that is heard first after a pause must not have
// the pause added to its time.
void Watchdog::notice_pause(std::uint64_t now_ns) {
  if (ran_ns_ && now_ns > *ran_ns_ && now_ns - *ran_ns_ > options_.pause_ns) {
    move_all(now_ns - *ran_ns_);
    was_paused_ = true;
  }
  ran_ns_ = now_ns;
}

void Watchdog::move_all(std::uint64_t by_ns) {
  due_.clear();
  for (auto& [worker, watched] : all_) {
    watched.due_ns += by_ns;
    due_.emplace(watched.due_ns, worker);
  }
}

Watchdog::Verdicts Watchdog::look(std::uint64_t now_ns) {
  Verdicts verdicts;
  notice_pause(now_ns);
  verdicts.after_pause = std::exchange(was_paused_, false);
  while (!due_.empty() && due_.begin()->first <= now_ns) {
    const std::string worker = due_.begin()->second;
    const Watched watched = all_.find(worker)->second;
    if (watched.stage == Stage::kLive) {
      put(worker, Stage::kSilent, watched.due_ns + options_.grace_ns, watched.heard_ns);
      verdicts.silent.push_back(worker);
    } else {
      forget(worker);
      verdicts.lost.push_back(worker);
    }
  }
  return verdicts;
}

std::optional<std::uint64_t> Watchdog::next_ns() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace holdfast::dispatch
