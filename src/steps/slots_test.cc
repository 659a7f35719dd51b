// SPDX-License-Identifier: Apache-2.0
// Steps that take several events together.
#include "steps/testing.h"
#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kShop[] = R"(
  begin: Start -> A | B
  pack*1: A & B -> Stop
)";

TEST(Slots, an_event_waits_for_the_others) {
  Table table(kShop);
  table.check("last", table.add("A1"), "last \n pack holds A1", "schedule idle-check");
  table.check("last \n pack holds A1", table.add("A2"), "last \n pack holds A1 \n pack holds A2",
              "schedule idle-check");
}

TEST(Slots, the_last_one_runs_the_step_with_one_of_each_in_the_order_of_the_slots) {
  Table table(kShop);
  for (const auto& [held, added] : {std::pair("A1", "B2"), std::pair("B2", "A1")}) {
    table.check(std::string("last \n pack holds ") + held, table.add(added),
                "last i1 r1 \n pack running 0 r1 [A1,B2] i1 t5",
                "run pack/0 r1 \n publish running pack/0");
  }
}

TEST(Slots, sets_are_made_in_the_order_of_arrival) {
  Table table(kShop);
  table.check(R"(last
                 pack holds A1
                 pack holds A2)",
              table.add("B3"),
              R"(last i1 r1
                 pack running 0 r1 [A1,B3] i1 t5
                 pack holds A2)",
              "run pack/0 r1 \n publish running pack/0");
}

TEST(Slots, a_set_that_finds_no_slot_to_run_in_waits_for_one) {
  Table table(kShop);
  table.check(R"(last i1 r1
                 pack running 0 r1 [A1,B3] i1 t5
                 pack holds A2)",
              table.add("B4"),
              R"(last i2 r1
                 pack running 0 r1 [A1,B3] i1 t5
                 pack queued [A2,B4] i2)",
              "publish preparing pack");
}

TEST(Slots, a_type_that_is_asked_for_twice_is_there_twice) {
  Table table("begin: Start -> A | B \n pack: A & B & A -> Stop");
  table.check("last \n pack holds A1 \n pack holds B2", table.add("A3"),
              "last i1 r1 \n pack running 0 r1 [A1,B2,A3] i1 t5",
              "run pack/0 r1 \n publish running pack/0");
  table.check("last \n pack holds A1 \n pack holds A2 \n pack holds A3", table.add("B4"),
              "last i1 r1 \n pack running 0 r1 [A1,B4,A2] i1 t5 \n pack holds A3",
              "run pack/0 r1 \n publish running pack/0");
}

TEST(Slots, other_steps_that_take_the_event_get_it_too) {
  Table table("begin: Start -> A | B \n look: A -> \n pack: A & B -> Stop");
  table.check("last", table.add("A1"),
              R"(last i1 r1
                 look running 0 r1 A1 i1 t5
                 pack holds A1)",
              "run look/0 r1 \n publish running look/0");
}

TEST(Slots, an_event_for_another_step_does_not_come_into_one) {
  Table table("begin: Start -> A | B \n look: A -> \n pack: A & B -> Stop");
  table.check("last", table.add_to("look", "A1"), "last i1 r1 \n look running 0 r1 A1 i1 t5",
              "run look/0 r1 \n publish running look/0");
  table.check("last", table.add_to("pack", "A1"), "last \n pack holds A1", "schedule idle-check");
}

TEST(Slots, a_step_that_was_woken_by_an_event_does_not_hold_it) {
  Table table("begin: Start -> A | Answer \n pack: A & Answer -> Stop");
  table.check(R"(last i1
                 pack waits w Answer for [A1,Answer1] i1)",
              table.add("Answer2"),
              R"(last i1 r1
                 pack running 0 r1 [A1,Answer1] i1 t5
                 pack waits w Answer for [A1,Answer1] i1 answered Answer2)",
              "run pack/0 r1 \n publish running pack/0");
}

TEST(Slots, what_handlers_did_for_any_of_them_counts_for_the_set) {
  Table table("begin: Start -> A | B \n pack: A & B -> Stop \n rescue!3: StepFailed -> A");
  AddEvent tick = table.add("B2");
  tick.lineage = {{table.step("rescue"), 2}};
  table.check("last \n pack holds A1 rescue=1", tick,
              "last i1 r1 \n pack running 0 r1 [A1,B2] i1 t5 rescue=2",
              "run pack/0 r1 \n publish running pack/0");
}

// Of a fan-out.
constexpr char kFan[] = R"(
  split: Start -> P[]
  left: P -> A
  right: P -> B
  pack: A & B -> C
  sum: C[] -> Stop
)";

TEST(Slots, only_events_of_the_same_fan_out_make_a_set) {
  Table table(kFan);
  AddEvent tick = table.add("B2");
  tick.stream = 2;
  table.check(R"(last s2
                 pack holds A1 s1
                 stream 1 open 1 in 0
                 stream 1 joins sum
                 stream 2 open 2 in 0
                 stream 2 joins sum)",
              tick,
              R"(last s2
                 pack holds A1 s1
                 pack holds B2 s2
                 stream 1 open 1 in 0
                 stream 1 joins sum
                 stream 2 open 1 in 0
                 stream 2 joins sum)",
              "schedule idle-check");
}

TEST(Slots, a_set_is_one_thing_that_is_open_in_its_fan_out) {
  Table table(kFan);
  AddEvent tick = table.add("B2");
  tick.stream = 1;
  table.check(R"(last s1
                 pack holds A1 s1
                 stream 1 open 1 in 0
                 stream 1 joins sum)",
              tick,
              R"(last i1 r1 s1
                 pack running 0 r1 [A1,B2] i1 s1 t5
                 stream 1 open 1 in 0
                 stream 1 joins sum)",
              "run pack/0 r1 \n publish running pack/0");
}

TEST(Slots, what_is_left_over_when_the_fan_out_closes_is_dropped_and_told) {
  Table table(kFan);
  table.check(R"(last i3 r3 s1
                 pack holds B9
                 pack holds A1 s1
                 pack holds A2 s1
                 right running 0 r3 P1 i3 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins sum C1)",
              Table::result(3, Table::returns_nothing()),
              R"(last i4 r4 s1
                 pack holds B9
                 sum running 0 r4 [C1] i4 t5)",
              R"(publish not-running right/0
                 publish unhandled A1 to pack
                 publish unhandled A2 to pack
                 run sum/0 r4
                 publish running sum/0)");
}

TEST(Slots, a_step_that_is_cancelled_holds_nothing) {
  Table table("begin: Start -> A | B \n pack: A & B -> Stop");
  table.check(R"(last i1 r1
                 begin running 0 r1 Start1 i1 t2
                 pack holds A1)",
              Table::result(1, table.cancels("pack")), "last i1 r1",
              "publish not-running begin/0 \n schedule idle-check");
}

TEST(Slots, a_retry_gets_the_same_set) {
  Table table(kShop);
  table.check("last i1 r1 \n pack running 0 r1 [A1,B2] i1 t2",
              Table::result(1, Table::fails_and_retries("oops", 0)),
              "last i1 r2 \n pack running 0 r2 [A1,B2] i1 f1 t2",
              R"(publish not-running pack/0
                 run pack/0 r2
                 publish running pack/0)");
}

TEST(Slots, a_stop_leaves_nothing_in_them) {
  Table table("begin: Start -> A | B | Stop \n pack: A & B -> Stop");
  table.check(R"(last i1 r1
                 begin running 0 r1 Start1 i1 t2
                 pack holds A1)",
              Table::result(1, table.returns("Stop7")), "last i1 r1 \n not running",
              R"(publish not-running begin/0
                 publish stopped Stop7
                 complete Stop7)");
}

TEST(Slots, a_run_that_waits_in_one_is_idle) {
  Table table(kShop);
  table.check("last \n pack holds A1", IdleCheck{}, "last \n pack holds A1", "publish idle");
}

// Pairs in a world, inside a fan-out and outside.
TEST(Slots, pair_by_pair_in_a_fan_out) {
  const Story story = slots_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 3004");
  EXPECT_EQ(std::count(stage.performed.begin(), stage.performed.end(), "pack A1"), 1);
}

}  // namespace
}  // namespace holdfast::steps::testing
