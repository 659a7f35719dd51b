// SPDX-License-Identifier: Apache-2.0
#include "dispatch/deliveries.h"

#include <algorithm>
#include <charconv>

namespace holdfast::dispatch {

std::string Dispatch::to_text() const {
  // "sha256:" is the same for all of them.
  return std::to_string(number) + ":" + intent.to_text().substr(7);
}

std::optional<Dispatch> Dispatch::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || text[0] == '0') return std::nullopt;
  Dispatch dispatch;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, dispatch.number);
  if (error != std::errc() || end != text.data() + colon) return std::nullopt;
  const auto intent = base::Hash::parse("sha256:" + std::string(text.substr(colon + 1)));
  if (!intent) return std::nullopt;
  dispatch.intent = *intent;
  return dispatch;
}

void Deliveries::set_missing(const Dispatch& dispatch, std::optional<std::uint64_t> since) {
  std::optional<std::uint64_t>& now = all_.at(dispatch);
  if (now) missing_.erase({*now, dispatch});
  now = since;
  if (now) missing_.emplace(*now, dispatch);
}

void Deliveries::leased(const Dispatch& dispatch, std::uint64_t now_ns) {
  if (!all_.try_emplace(dispatch).second) return;
  set_missing(dispatch, now_ns);
}

void Deliveries::ended(const Dispatch& dispatch) {
  stopping_.erase(dispatch);
  const auto at = all_.find(dispatch);
  if (at == all_.end()) return;
  set_missing(dispatch, std::nullopt);
  all_.erase(at);
}

bool Deliveries::has(const Dispatch& dispatch) const { return all_.contains(dispatch); }

Deliveries::Compared Deliveries::compare(const std::vector<Dispatch>& holding,
                                         std::uint64_t now_ns) {
  Compared compared;
  const std::set<Dispatch> held(holding.begin(), holding.end());
  for (const Dispatch& dispatch : held)
    if (!all_.contains(dispatch)) compared.foreign.push_back(dispatch);
  for (const auto& [dispatch, since] : all_) {
    const bool is_held = held.contains(dispatch);
    if (is_held && since) set_missing(dispatch, std::nullopt);
    if (!is_held && !since) set_missing(dispatch, now_ns);
    if (!is_held) compared.missing.push_back(dispatch);
  }
  return compared;
}

std::vector<Dispatch> Deliveries::missing(std::uint64_t now_ns, std::uint64_t for_ns,
                                          std::size_t most) const {
  std::vector<Dispatch> found;
  for (const auto& [since, dispatch] : missing_) {
    if (found.size() == most) break;
    if (now_ns < since || now_ns - since < for_ns) found.push_back(dispatch);
  }
  return found;
}

std::vector<Dispatch> Deliveries::denied(std::uint64_t now_ns, std::uint64_t after_ns,
                                         std::size_t most) const {
  std::vector<Dispatch> late;
  for (const auto& [since, dispatch] : missing_) {
    if (late.size() == most || now_ns < since || now_ns - since < after_ns) break;
    late.push_back(dispatch);
  }
  return late;
}

void Deliveries::restart_clock(std::uint64_t now_ns) {
  for (const auto& [dispatch, since] : all_)
    if (since) set_missing(dispatch, now_ns);
}

void Deliveries::stop(const Dispatch& dispatch, std::string reason) {
  if (all_.contains(dispatch)) stopping_.try_emplace(dispatch, std::move(reason));
}

std::vector<Dispatch> Deliveries::all() const {
  std::vector<Dispatch> dispatches;
  for (const auto& [dispatch, since] : all_) dispatches.push_back(dispatch);
  return dispatches;
}

}  // namespace holdfast::dispatch
