// SPDX-License-Identifier: Apache-2.0
// StrongId: a type per kind of id, so that the id of one thing never passes for that of another.
//
//   using WorkerId = StrongId<struct WorkerIdTag, std::string>;
//   using BatchId = StrongId<struct BatchIdTag, std::uint64_t>;
#pragma once

#include <compare>
#include <functional>
#include <utility>

namespace holdfast::base {

template <class Tag, class Rep>
class StrongId {
 public:
  using rep_type = Rep;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(std::move(value)) {}

  constexpr const Rep& value() const noexcept { return value_; }

  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;

 private:
  Rep value_{};
};

}  // namespace holdfast::base

template <class Tag, class Rep>
struct std::hash<holdfast::base::StrongId<Tag, Rep>> {
  std::size_t operator()(const holdfast::base::StrongId<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
