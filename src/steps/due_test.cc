// SPDX-License-Identifier: Apache-2.0
#include "steps/due.h"

#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr char kDueGraph[] = "ask: Start -> A \n work: A -> Stop \n note: Answer -> Stop";

Lines due_lines(std::string_view text, std::uint64_t now_ns) {
  Table table(kDueGraph);
  const State state = table.parse().state(text);
  Lines lines;
  for (const Tick& tick : due_by(state, now_ns)) {
    if (std::holds_alternative<Timeout>(tick)) lines.emplace_back("timeout");
    if (const auto* wait = std::get_if<WaiterTimeout>(&tick))
      lines.push_back("wait " + std::string(wait->id) + " of i" + std::to_string(wait->item));
    if (const auto* wake = std::get_if<WakeUp>(&tick))
      lines.push_back("wake @" + std::to_string(wake->due_ns));
  }
  return lines;
}

constexpr char kDueState[] = R"(
  last i9
  deadline 30
  ask waits a Answer for Start1 i1 until 20
  ask waits b Answer for Start1 i2 until 10
  ask waits c Answer for Start1 i3
  ask waits d Answer for Start1 i4 answered Answer1
  work queued A1 i5 f1 t1 @20
  work queued A2 i6 f1 t1 @5
  work queued A3 i7 f1 t1 @7
  work queued A4 i8)";

TEST(Due, comes_in_the_order_of_time_and_of_kind) {
  EXPECT_EQ(due_lines(kDueState, 40),
            (Lines{"wake @7", "wait b of i2", "wait a of i1", "wake @20", "timeout"}));
}

TEST(Due, is_what_is_due_and_nothing_else) {
  EXPECT_EQ(due_lines(kDueState, 4), Lines());
  EXPECT_EQ(due_lines(kDueState, 5), Lines{"wake @5"});
  EXPECT_EQ(due_lines(kDueState, 19), (Lines{"wake @7", "wait b of i2"}));
}

TEST(Due, the_end_of_the_run_comes_before_what_is_due_with_it) {
  EXPECT_EQ(due_lines(R"(last i2
                         deadline 8
                         ask waits a Answer for Start1 i1 until 8
                         work queued A1 i2 f1 t1 @8)",
                      8),
            (Lines{"timeout", "wait a of i1", "wake @8"}));
}

TEST(Due, the_next_is_the_earliest) {
  Table table(kDueGraph);
  EXPECT_EQ(next_due(table.parse().state(kDueState)), 5U);
  EXPECT_EQ(next_due(table.parse().state("last \n deadline 3")), 3U);
  EXPECT_EQ(next_due(table.parse().state("last i1 \n work queued A1 i1")), std::nullopt);
}

}  // namespace
}  // namespace holdfast::steps::testing
