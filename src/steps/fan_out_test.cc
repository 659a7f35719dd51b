// SPDX-License-Identifier: Apache-2.0
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kMap[] = R"(
  split: Start -> A[]
  work*2: A -> B
  sum: B[] -> Stop
)";

TEST(FanOut, a_list_opens_a_stream_and_queues_its_elements) {
  Table table(kMap);
  table.check("last i1 r1 \n split running 0 r1 Start1 i1 t2",
              table.result(1, table.returns_list({"A1", "A2"})),
              R"(last i1 r1 s1
                 stream 1 open 2 in 0
                 stream 1 joins sum)",
              R"(publish not-running split/0
                 queue A1 s1
                 queue A2 s1
                 schedule idle-check)");
}

TEST(FanOut, an_empty_list_fires_its_joins_with_nothing) {
  Table table(kMap);
  table.check("last i1 r1 \n split running 0 r1 Start1 i1 t2", table.result(1, ReturnedList{}),
              R"(last i2 r2 s1
                 sum running 0 r2 [] i2 t5)",
              R"(publish not-running split/0
                 run sum/0 r2
                 publish running sum/0)");
}

TEST(FanOut, no_list_opens_nothing) {
  Table table(kMap);
  table.check("last i1 r1 \n split running 0 r1 Start1 i1 t2",
              table.result(1, table.returns_nothing()), "last i1 r1",
              "publish not-running split/0 \n schedule idle-check");
}

TEST(FanOut, an_element_is_open_in_every_step_that_takes_it) {
  Table table(R"(
    split: Start -> A[]
    left: A -> B
    right: A -> B
    sum: B[] -> Stop)");
  AddEvent tick = table.add("A1");
  tick.stream = 1;
  table.check("last i1 r1 s1 \n stream 1 open 1 in 0 \n stream 1 joins sum", tick,
              R"(last i3 r3 s1
                 left running 0 r2 A1 i2 s1 t5
                 right running 0 r3 A1 i3 s1 t5
                 stream 1 open 2 in 0
                 stream 1 joins sum)",
              R"(run left/0 r2
                 publish running left/0
                 run right/0 r3
                 publish running right/0)");
}

TEST(FanOut, a_member_waits_for_the_others) {
  Table table(kMap);
  AddEvent tick = table.add("B1");
  tick.stream = 1;
  table.check("last i3 r3 s1 \n stream 1 open 2 in 0 \n stream 1 joins sum", tick,
              "last i3 r3 s1 \n stream 1 open 1 in 0 \n stream 1 joins sum B1",
              "schedule idle-check");
}

TEST(FanOut, the_last_member_closes_the_stream_and_the_join_gets_all) {
  Table table(kMap);
  AddEvent tick = table.add("B2");
  tick.stream = 1;
  table.check("last i3 r3 s1 \n stream 1 open 1 in 0 \n stream 1 joins sum B7 B1", tick,
              "last i4 r4 s1 \n sum running 0 r4 [B7,B1,B2] i4 t5",
              "run sum/0 r4 \n publish running sum/0");
}

TEST(FanOut, a_branch_that_returns_nothing_drops_out) {
  Table table(kMap);
  table.check(R"(last i3 r3 s1
                 work running 0 r3 A2 i3 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins sum B1)",
              table.result(3, table.returns_nothing()),
              "last i4 r4 s1 \n sum running 0 r4 [B1] i4 t5",
              "publish not-running work/0 \n run sum/0 r4 \n publish running sum/0");
}

TEST(FanOut, retries_waits_and_handlers_keep_it_open) {
  Table table(std::string(kMap) + "rescue!1: StepFailed -> B");
  const std::string stream = "stream 1 open 1 in 0 \n stream 1 joins sum";
  const std::string before = "last i3 r3 s1 \n work running 0 r3 A2 i3 s1 t2 \n" + stream;
  table.check(before, table.result(3, table.fails_and_retries("oops", 5)),
              "last i3 r3 s1 \n work queued A2 i3 s1 f1 t2 @10 \n" + stream,
              "publish not-running work/0 \n schedule wake-up @10");
  table.check(before, table.result(3, table.waits("w", "Start")),
              "last i3 r3 s1 \n work waits w Start for A2 i3 s1 t2 \n" + stream,
              "publish not-running work/0 \n schedule idle-check");
  const auto failed = table.reduce(before, table.result(3, table.fails("oops")));
  EXPECT_EQ(failed.state, trimmed("last i3 r3 s1 \n" + stream));
  EXPECT_NE(failed.commands.find("to rescue s1 rescue=1"), std::string::npos) << failed.commands;
}

TEST(FanOut, two_joins_of_one_type_both_get_all) {
  Table table(R"(
    split: Start -> B[]
    mean: B[] -> C
    sum: B[] -> Stop)");
  AddEvent tick = table.add("B2");
  tick.stream = 1;
  table.check(R"(last i1 r1 s1
                 stream 1 open 1 in 0
                 stream 1 joins mean B1
                 stream 1 joins sum B1)",
              tick,
              R"(last i3 r3 s1
                 mean running 0 r2 [B1,B2] i2 t5
                 sum running 0 r3 [B1,B2] i3 t5)",
              R"(run mean/0 r2
                 publish running mean/0
                 run sum/0 r3
                 publish running sum/0)");
}

// --- the first so many

constexpr char kFirstTwo[] = R"(
  split: Start -> A[]
  work: A -> B
  some: B[2] -> Stop
)";

TEST(FanOut, the_first_so_many_fire_at_once_and_the_rest_is_passed_over) {
  Table table(kFirstTwo);
  AddEvent tick = table.add("B2");
  tick.stream = 1;
  table.check("last i3 r3 s1 \n stream 1 open 2 in 0 \n stream 1 joins some B1", tick,
              R"(last i4 r4 s1
                 some running 0 r4 [B1,B2] i4 t5
                 stream 1 open 1 in 0
                 stream 1 joins some fired)",
              "run some/0 r4 \n publish running some/0");
  table.check("last i4 r4 s1 \n stream 1 open 2 in 0 \n stream 1 joins some fired", tick,
              "last i4 r4 s1 \n stream 1 open 1 in 0 \n stream 1 joins some fired",
              "schedule idle-check");
  table.check("last i4 r4 s1 \n stream 1 open 1 in 0 \n stream 1 joins some fired", tick,
              "last i4 r4 s1", "schedule idle-check");
}

TEST(FanOut, fewer_than_so_many_come_when_the_stream_closes) {
  Table table(kFirstTwo);
  table.check(R"(last i3 r3 s1
                 work running 0 r3 A2 i3 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins some B1)",
              table.result(3, table.returns_nothing()),
              "last i4 r4 s1 \n some running 0 r4 [B1] i4 t5",
              "publish not-running work/0 \n run some/0 r4 \n publish running some/0");
}

TEST(FanOut, a_retry_of_a_join_gets_the_same_members) {
  Table table(kFirstTwo);
  table.check("last i4 r4 s1 \n some running 0 r4 [B1,B2] i4 t5",
              table.result(4, table.fails_and_retries("oops", 0)),
              "last i4 r5 s1 \n some running 0 r5 [B1,B2] i4 f1 t5",
              "publish not-running some/0 \n run some/0 r5 \n publish running some/0");
}

// --- sent by hand

TEST(FanOut, what_was_sent_by_hand_cannot_join) {
  Table table(kMap);
  table.check("last i1 r1 s1 \n stream 1 open 1 in 0 \n stream 1 joins sum", table.add("B1"),
              "last i1 r1 s1 \n stream 1 open 1 in 0 \n stream 1 joins sum",
              "publish unhandled B1 idle \n schedule idle-check");
  table.check("last i1 r1", table.add_to("sum", "B1"), "last i1 r1 \n not running",
              "publish failed steps.cannot_join in sum \n fail steps.cannot_join");
}

// --- fan-outs inside fan-outs

constexpr char kNested[] = R"(
  split: Start -> A[]
  halve: A -> B[]
  work: B -> C
  inner: C[] -> D
  outer: D[] -> Stop
)";

TEST(FanOut, inside_another_joins_on_its_own_level) {
  Table table(kNested);
  table.check(R"(last i2 r2 s1
                 halve running 0 r2 A1 i2 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              table.result(2, table.returns_list({"B1"})),
              R"(last i2 r2 s2
                 stream 1 open 1 in 0
                 stream 1 joins outer
                 stream 2 open 1 in 1
                 stream 2 joins inner)",
              R"(publish not-running halve/0
                 queue B1 s2
                 schedule idle-check)");
  AddEvent tick = table.add("C1");
  tick.stream = 2;
  table.check(R"(last i3 r3 s2
                 stream 1 open 1 in 0
                 stream 1 joins outer
                 stream 2 open 1 in 1
                 stream 2 joins inner)",
              tick,
              R"(last i4 r4 s2
                 inner running 0 r4 [C1] i4 s1 t5
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              "run inner/0 r4 \n publish running inner/0");
  table.check(R"(last i4 r4 s2
                 inner running 0 r4 [C1] i4 s1 t5
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              table.result(4, table.returns("D1")),
              R"(last i4 r4 s2
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              "publish not-running inner/0 \n queue D1 s1 \n schedule idle-check");
}

TEST(FanOut, empty_lists_inside_each_other_fire_all_joins) {
  Table table(kNested);
  table.check(R"(last i2 r2 s1
                 halve running 0 r2 A1 i2 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              table.result(2, ReturnedList{}),
              R"(last i3 r3 s2
                 inner running 0 r3 [] i3 s1 t5
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              R"(publish not-running halve/0
                 run inner/0 r3
                 publish running inner/0)");
  table.check(R"(last i3 r3 s2
                 inner running 0 r3 [] i3 s1 t5
                 stream 1 open 1 in 0
                 stream 1 joins outer)",
              table.result(3, table.returns_nothing()),
              "last i4 r4 s2 \n outer running 0 r4 [] i4 t5",
              "publish not-running inner/0 \n run outer/0 r4 \n publish running outer/0");
}

TEST(FanOut, the_first_so_many_are_open_in_the_stream_around) {
  Table table(R"(
    split: Start -> A[]
    halve: A -> B[]
    some: B[1] -> D
    outer: D[] -> Stop)");
  AddEvent tick = table.add("B1");
  tick.stream = 2;
  table.check(R"(last i3 r3 s2
                 stream 1 open 1 in 0
                 stream 1 joins outer
                 stream 2 open 2 in 1
                 stream 2 joins some)",
              tick,
              R"(last i4 r4 s2
                 some running 0 r4 [B1] i4 s1 t5
                 stream 1 open 2 in 0
                 stream 1 joins outer
                 stream 2 open 1 in 1
                 stream 2 joins some fired)",
              "run some/0 r4 \n publish running some/0");
}

TEST(FanOut, what_handlers_did_for_members_counts_behind_the_join) {
  Table table(std::string(kMap) + "rescue!9: StepFailed -> B \n other!9 split: StepFailed -> B");
  AddEvent tick = table.add("B2");
  tick.stream = 1;
  tick.lineage = {{table.step("rescue"), 3}};
  table.check(R"(last i3 r3 s1
                 stream 1 open 2 in 0 other=1 rescue=1
                 stream 1 joins sum B1 rescue=2)",
              tick,
              R"(last i3 r3 s1
                 stream 1 open 1 in 0 other=1 rescue=1
                 stream 1 joins sum B1 B2 rescue=3)",
              "schedule idle-check");
  tick.lineage = {};
  table.check(R"(last i3 r3 s1
                 stream 1 open 1 in 0 other=1 rescue=1
                 stream 1 joins sum B1 rescue=2)",
              tick, "last i4 r4 s1 \n sum running 0 r4 [B1,B2] i4 t5 rescue=2 other=1",
              "run sum/0 r4 \n publish running sum/0");
}

TEST(FanOut, that_nobody_joins_opens_nothing) {
  Table table("again: Start | A -> A[] \n end: Start -> Stop");
  table.check("last i1 r1 \n again running 0 r1 Start1 i1 t2",
              table.result(1, table.returns_list({"A1", "A2"})), "last i1 r1",
              R"(publish not-running again/0
                 queue A1
                 queue A2
                 schedule idle-check)");
}

TEST(FanOut, that_nobody_joins_is_part_of_the_one_around_it) {
  Table table(R"(
    split: Start -> A[]
    more: A -> C[]
    use: C
    work: A -> B
    sum: B[] -> Stop)");
  table.check(R"(last i2 r2 s1
                 more running 0 r2 A1 i2 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins sum B1)",
              table.result(2, table.returns_list({"C1", "C2"})),
              R"(last i2 r2 s1
                 stream 1 open 2 in 0
                 stream 1 joins sum B1)",
              R"(publish not-running more/0
                 queue C1 s1
                 queue C2 s1
                 schedule idle-check)");
  table.check(R"(last i2 r2 s1
                 more running 0 r2 A1 i2 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins sum B1)",
              table.result(2, ReturnedList{}), "last i3 r3 s1 \n sum running 0 r3 [B1] i3 t5",
              "publish not-running more/0 \n run sum/0 r3 \n publish running sum/0");
}

TEST(FanOut, an_event_of_a_fan_out_that_its_step_does_not_join_is_unhandled) {
  Table table("split: Start -> A[] \n work: A -> B \n sum: B[] -> Stop");
  AddEvent tick = table.add("B1");
  tick.stream = 1;
  table.check("last s1 \n stream 1 open 2 in 0", tick, "last s1 \n stream 1 open 1 in 0",
              "publish unhandled B1 idle \n schedule idle-check");
}

TEST(FanOut, a_stop_inside_ends_all_of_it) {
  Table table(kMap);
  table.check(R"(last i3 r3 s1
                 work running 0 r3 A2 i3 s1 t2
                 stream 1 open 2 in 0
                 stream 1 joins sum B1)",
              table.result(3, table.returns_list({"B7", "Stop9"})), "last i3 r3 s1 \n not running",
              "publish not-running work/0 \n publish stopped Stop9 \n complete Stop9");
}

// What closes a hundred thousand of them must not depend on the stack.
TEST(FanOut, nested_without_end_closes_at_once) {
  Table table("again: A -> A[]");
  std::string before = "last i2 r2 s100000 \n again running 0 r2 A1 i2 s100000 t2 \n";
  for (int id = 1; id <= 100'000; ++id)
    before += "stream " + std::to_string(id) + " open 1 in " + std::to_string(id - 1) + "\n";
  const auto outcome = table.reduce(before, table.result(2, table.returns_nothing()));
  EXPECT_EQ(outcome.state, "last i2 r2 s100000\n");
}

// --- what one step does to another

TEST(CancelStep, drops_what_it_has_and_drops_out_of_fan_outs) {
  Table table(R"(
    split: Start -> A[]
    work*1: A -> B
    boss: Start -> Stop
    sum: B[] -> Stop)");
  table.check(R"(last i6 r4 s1
                 boss running 0 r4 Start1 i6 t2
                 work running 0 r2 A1 i2 s1 t2 issued
                 work queued A2 i3 s1
                 work buffer default c1 A9
                 work waits w B for A3 i4 s1
                 work waits w B for A1 i2 s1 answered B1
                 stream 1 open 4 in 0
                 stream 1 joins sum B5)",
              table.result(4, table.cancels("work"), table.returns_nothing()),
              R"(last i6 r4 s1
                 stream 1 open 1 in 0
                 stream 1 joins sum B5)",
              R"(publish not-running boss/0
                 publish not-running work/0
                 stop r2
                 schedule idle-check)");
}

TEST(CancelStep, stops_what_runs_and_was_asked_for) {
  Table table("work*4: A -> B \n boss: Start -> Stop");
  const std::string before = R"(last i4 r4
                 boss running 0 r4 Start1 i4 t2 issued
                 work running 0 r2 A1 i2 t2 issued
                 work running 1 r1 A2 i1 t2
                 work running 2 r3 A3 i3 t2 issued judging:late)";
  table.check(before, table.result(4, table.cancels("work"), table.returns_nothing()), "last i4 r4",
              R"(publish not-running boss/0
                 publish not-running work/0
                 stop r2
                 publish not-running work/1
                 publish not-running work/2
                 stop r3
                 schedule idle-check)");
  // Those who report as it once was tell nobody.
  CancelStep untold = table.cancels("work");
  untold.stops = false;
  table.check(before, table.result(4, untold, table.returns_nothing()), "last i4 r4",
              R"(publish not-running boss/0
                 publish not-running work/0
                 publish not-running work/1
                 publish not-running work/2
                 schedule idle-check)");
}

TEST(CancelStep, closes_the_fan_out_that_waited_for_it) {
  Table table(R"(
    split: Start -> A[]
    work: A -> B
    boss: Start -> Stop
    sum: B[] -> Stop)");
  table.check(R"(last i3 r3 s1
                 boss running 0 r3 Start1 i3 t2
                 work running 0 r2 A1 i2 s1 t2
                 stream 1 open 1 in 0
                 stream 1 joins sum)",
              table.result(3, table.cancels("work"), table.returns_nothing()),
              "last i4 r4 s1 \n sum running 0 r4 [] i4 t5",
              R"(publish not-running boss/0
                 publish not-running work/0
                 run sum/0 r4
                 publish running sum/0)");
}

}  // namespace
}  // namespace holdfast::steps::testing
