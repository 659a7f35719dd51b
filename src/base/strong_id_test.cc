// SPDX-License-Identifier: Apache-2.0
#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_set>

namespace holdfast::base {
namespace {

using WorkerId = StrongId<struct WorkerIdTag, std::uint64_t>;
using TaskId = StrongId<struct TaskIdTag, std::uint64_t>;
using Name = StrongId<struct NameTag, std::string>;

template <class A, class B>
concept Mixable = std::is_convertible_v<A, B> || std::is_constructible_v<B, A> ||
    std::is_assignable_v<B&, A> || std::equality_comparable_with<A, B>;

TEST(StrongId, kinds_do_not_mix) {
  static_assert(!Mixable<WorkerId, TaskId>);
  static_assert(!Mixable<TaskId, WorkerId>);
}

TEST(StrongId, bare_values_come_in_and_go_out_only_by_name) {
  static_assert(!std::is_convertible_v<std::uint64_t, WorkerId>);
  static_assert(!std::is_convertible_v<WorkerId, std::uint64_t>);
  static_assert(std::is_constructible_v<WorkerId, std::uint64_t>);
  EXPECT_EQ(WorkerId(7).value(), 7U);
}

TEST(StrongId, costs_nothing) {
  static_assert(sizeof(WorkerId) == sizeof(std::uint64_t));
  static_assert(std::is_trivially_copyable_v<WorkerId>);
}

TEST(StrongId, is_ordered_like_its_value) {
  EXPECT_LT(WorkerId(1), WorkerId(2));
  EXPECT_EQ(Name("a"), Name("a"));
  std::set<Name> names = {Name("b"), Name("a")};
  EXPECT_EQ(names.begin()->value(), "a");
}

TEST(StrongId, serves_as_a_key_of_unordered_containers) {
  std::unordered_set<Name> names = {Name("a"), Name("b"), Name("a")};
  EXPECT_EQ(names.size(), 2U);
}

}  // namespace
}  // namespace holdfast::base
