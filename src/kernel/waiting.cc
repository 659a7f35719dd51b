// SPDX-License-Identifier: Apache-2.0
#include "kernel/waiting.h"

#include <algorithm>

#include "base/check.h"

namespace holdfast::kernel {

void Waiting::add(const CellName& who, const CellName& for_room_of) {
  const std::uint64_t order = ++last_order_;
  CHECK(by_waiter_.try_emplace(who, Place{for_room_of, order}).second);
  by_room_.try_emplace({for_room_of, order}, who);
}

std::optional<CellName> Waiting::remove(const CellName& who) {
  const auto found = by_waiter_.find(who);
  if (found == by_waiter_.end()) return std::nullopt;
  const CellName for_room_of = found->second.for_room_of;
  by_room_.erase({for_room_of, found->second.order});
  by_waiter_.erase(found);
  return for_room_of;
}

const CellName* Waiting::room_wanted_by(const CellName& who) const {
  const auto found = by_waiter_.find(who);
  return found == by_waiter_.end() ? nullptr : &found->second.for_room_of;
}

const CellName* Waiting::first_for(const CellName& for_room_of) const {
  const auto found = by_room_.lower_bound({for_room_of, 0});
  return found == by_room_.end() || found->first.first != for_room_of ? nullptr : &found->second;
}

Waiting::Way Waiting::leads_to(const CellName& from, const CellName& to) const {
  const CellName* at = &from;
  for (std::size_t i = 0; i < kMostInARow; ++i) {
    if (*at == to) return Way::kYes;
    at = room_wanted_by(*at);
    if (at == nullptr) return Way::kNo;
  }
  return Way::kTooLong;
}

bool Waiting::leads_far_to(const CellName& from, const CellName& to) const {
  const CellName* at = &from;
  // No longer than all of them: what waits in a circle without `to` has no end.
  for (std::size_t i = 0; i <= by_waiter_.size(); ++i) {
    if (*at == to) return true;
    at = room_wanted_by(*at);
    if (at == nullptr) return false;
  }
  return false;
}

std::vector<Waiting::Wait> Waiting::in_order() const {
  std::vector<std::pair<std::uint64_t, Wait>> all;
  all.reserve(by_waiter_.size());
  for (const auto& [who, place] : by_waiter_)
    all.push_back({place.order, {who, place.for_room_of}});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Wait> waits;
  waits.reserve(all.size());
  for (const auto& [order, wait] : all) waits.push_back(wait);
  return waits;
}

}  // namespace holdfast::kernel
