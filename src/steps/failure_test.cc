// SPDX-License-Identifier: Apache-2.0
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kFailureLine[] = R"(
  work*2: A -> B
  end: B -> Stop
)";

TEST(Failure, a_retry_waits_at_the_front_of_the_queue_until_it_is_due) {
  Table table(kFailureLine);
  table.check(R"(last i3 r1
                 work running 0 r1 A1 i1 t2
                 work queued A2 i2 @20
                 work queued A3 i3 @30)",
              table.result(1, table.sends("A9"), table.fails_and_retries("oops", 10)),
              R"(last i3 r1
                 work queued A1 i1 f1 t2 @15
                 work queued A2 i2 @20
                 work queued A3 i3 @30)",
              "publish not-running work/0 \n schedule wake-up @15");
}

TEST(Failure, a_retry_without_delay_runs_in_the_same_tick) {
  Table table(kFailureLine);
  table.check(R"(last i3 r2
                 work running 0 r1 A1 i1 f1 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3)",
              table.result(1, table.fails_and_retries("oops", 0)),
              R"(last i3 r3
                 work running 0 r3 A1 i1 f2 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3)",
              "publish not-running work/0 \n run work/0 r3 \n publish running work/0");
}

TEST(Failure, a_retry_gives_its_slot_to_who_waits) {
  Table table(kFailureLine);
  table.check(R"(last i3 r2
                 work running 0 r1 A1 i1 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3)",
              table.result(1, table.fails_and_retries("oops", 4)),
              R"(last i3 r3
                 work running 0 r3 A3 i3 t5
                 work running 1 r2 A2 i2 t2
                 work queued A1 i1 f1 t2 @9)",
              R"(publish not-running work/0
                 schedule wake-up @9
                 run work/0 r3
                 publish running work/0)");
}

TEST(Failure, a_delay_beyond_the_end_of_time_ends_there) {
  Table table(kFailureLine);
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t2",
              table.result(1, table.fails_and_retries("oops", UINT64_MAX)),
              "last i1 r1 \n work queued A1 i1 f1 t2 @18446744073709551615",
              "publish not-running work/0 \n schedule wake-up @18446744073709551615");
}

TEST(Failure, without_retry_and_handler_the_run_fails) {
  Table table(kFailureLine);
  table.check(R"(last i2 r2
                 work running 0 r1 A1 i1 f2 t2
                 work running 1 r2 A2 i2 t2)",
              table.result(1, table.fails("oops")),
              R"(last i2 r2
                 not running
                 work running 1 r2 A2 i2 t2)",
              R"(publish not-running work/0
                 publish failed oops in work attempts 3 elapsed 3
                 fail oops)");
}

// --- who ran it could not judge it

TEST(Failure, that_nobody_judged_is_judged_on_the_same_slot) {
  Table table(kFailureLine);
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t2 issued",
              table.result(1, table.is_lost("effect.timeout")),
              "last i1 r2 \n work running 0 r2 A1 i1 f1 t2 judging:effect.timeout",
              "run work/0 r2");
}

TEST(Failure, a_verdict_that_comes_later_counts_for_the_first_failure) {
  Table table(kFailureLine);
  table.check("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 judging:effect.timeout",
              table.result(2, table.fails_and_retries("ignored", 10)),
              "last i1 r2 \n work queued A1 i1 f1 t2 @15",
              "publish not-running work/0 \n schedule wake-up @15");
  table.check("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 judging:effect.timeout",
              table.result(2, table.fails("ignored")), "last i1 r2 \n not running",
              R"(publish not-running work/0
                 publish failed effect.timeout in work attempts 1 elapsed 3
                 fail effect.timeout)");
}

TEST(Failure, a_judge_that_says_something_else_is_no_retry) {
  Table table(kFailureLine);
  for (const StepResult& tick : {table.result(2, table.returns("Stop1")), table.result(2),
                                 table.result(2, table.waits("w", "B"))}) {
    table.check("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 judging:effect.timeout", tick,
                "last i1 r2 \n not running",
                R"(publish not-running work/0
                   publish failed effect.timeout in work attempts 1 elapsed 3
                   fail effect.timeout)");
  }
}

TEST(Failure, a_judge_that_cannot_be_reached_is_no_retry) {
  Table table(kFailureLine);
  table.check("last i1 r2 \n work running 0 r2 A1 i1 f1 t2 judging:effect.timeout",
              table.result(2, table.is_lost("effect.timeout")), "last i1 r2 \n not running",
              R"(publish not-running work/0
                 publish failed effect.timeout in work attempts 1 elapsed 3
                 fail effect.timeout)");
}

// --- handlers

constexpr char kHandled[] = R"(
  work: A -> B
  end: B -> Stop
  special!1 end: StepFailed -> Stop
  rescue!2: StepFailed -> A
)";

constexpr char kDescribed[] =
    R"(StepFailed{"code":"oops","step":"work","event":"A","value":{"$bytes":"AQ=="},)"
    R"("message":"it did not work","attempts":1,"elapsed_ns":3})";

TEST(Failure, goes_to_the_handler_of_all_steps_and_counts_on_the_lineage) {
  Table table(kHandled);
  const auto outcome = table.reduce("last i1 r1 \n work running 0 r1 A1 i1 t2 s1",
                                    table.result(1, table.fails("oops")));
  EXPECT_EQ(outcome.state, "last i1 r1\n");
  EXPECT_EQ(outcome.commands, "publish not-running work/0\nqueue " + std::string(kDescribed) +
                                  " to rescue s1 rescue=1\nschedule idle-check\n");
}

TEST(Failure, beyond_the_budget_of_the_handler_the_run_fails) {
  Table table(kHandled);
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t2 rescue=2",
              table.result(1, table.fails("oops")), "last i1 r1 \n not running",
              R"(publish not-running work/0
                 publish failed oops in work attempts 1 elapsed 3
                 fail oops)");
}

TEST(Failure, a_handler_of_named_steps_comes_first) {
  Table table(kHandled);
  const auto outcome = table.reduce("last i1 r1 \n end running 0 r1 B1 i1 t2 rescue=2",
                                    table.result(1, table.fails("oops")));
  EXPECT_NE(outcome.commands.find("to special rescue=2 special=1"), std::string::npos)
      << outcome.commands;
}

TEST(Failure, of_a_handler_fails_the_run) {
  Table table(kHandled);
  table.check("last i1 r1 \n rescue running 0 r1 StepFailed1 i1 t2 rescue=1",
              table.result(1, table.fails("oops")), "last i1 r1 \n not running",
              R"(publish not-running rescue/0
                 publish failed oops in rescue attempts 1 elapsed 3
                 fail oops)");
}

TEST(Failure, waits_of_what_is_handed_over_are_over) {
  Table table(kHandled);
  const auto outcome = table.reduce(
      "last i1 r1 \n work running 0 r1 A1 i1 t2 \n work waits w B for A1 i1 answered B1",
      table.result(1, table.fails("oops")));
  EXPECT_EQ(outcome.state, "last i1 r1\n");
}

// --- wake-up

TEST(Failure, by_a_clock_that_was_set_back_has_taken_no_time) {
  Table table("work: A -> B \n end: B -> Stop");
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t9", Table::result(1, Table::fails("oops")),
              "last i1 r1 \n not running",
              R"(publish not-running work/0
                 publish failed oops in work attempts 1
                 fail oops)");
}

TEST(Failure, a_handler_that_takes_no_failures_gets_none) {
  Table table("work: A -> B \n rescue!1: B -> Stop");
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t5", Table::result(1, Table::fails("oops")),
              "last i1 r1 \n not running",
              R"(publish not-running work/0
                 publish failed oops in work attempts 1
                 fail oops)");
}

TEST(WakeUp, starts_what_is_due_and_nothing_else) {
  Table table(kFailureLine);
  table.now_ns = 99;  // it is the tick that says how late it is, and no clock
  table.check(R"(last i3 r1
                 work queued A1 i1 f1 t2 @16
                 work queued A2 i2 f1 t2 @15
                 work queued A3 i3 f2 t2 @9)",
              WakeUp{15},
              R"(last i3 r3
                 work running 0 r2 A2 i2 f1 t2
                 work running 1 r3 A3 i3 f2 t2
                 work queued A1 i1 f1 t2 @16)",
              R"(run work/0 r2
                 publish running work/0
                 run work/1 r3
                 publish running work/1)");
}

TEST(WakeUp, that_finds_no_slot_leaves_them_ready) {
  Table table(kFailureLine);
  table.check(R"(last i3 r2
                 work running 0 r1 A1 i1 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3 f1 t2 @9)",
              WakeUp{9},
              R"(last i3 r2
                 work running 0 r1 A1 i1 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3 f1 t2)",
              "");
}

TEST(WakeUp, that_is_early_or_old_starts_nothing) {
  Table table(kFailureLine);
  table.check_ignored("last i1 r1 \n work queued A1 i1 f1 t2 @16", WakeUp{15});
}

}  // namespace
}  // namespace holdfast::steps::testing
