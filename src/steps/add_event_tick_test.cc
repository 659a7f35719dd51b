// SPDX-License-Identifier: Apache-2.0
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kAddLine[] = R"(
  begin: Start -> A
  work*2: A -> B
  end: B -> Stop
)";

TEST(AddEvent, a_start_event_sets_the_run_going) {
  Table table(kAddLine);
  table.check("last \n not running", table.add("Start1"),
              R"(last i1 r1
                 begin running 0 r1 Start1 i1 t5)",
              R"(run begin/0 r1
                 publish running begin/0)");
}

TEST(AddEvent, a_start_event_sets_the_deadline_of_the_run_once) {
  Table table(kAddLine, 40);
  table.check("last \n not running", table.add("Start1"),
              R"(last i1 r1
                 deadline 45
                 begin running 0 r1 Start1 i1 t5)",
              R"(run begin/0 r1
                 publish running begin/0)");
  table.now_ns = 9;
  table.check(R"(last i1 r1
                 deadline 45)",
              table.add("Start2"),
              R"(last i2 r2
                 deadline 45
                 begin running 0 r2 Start2 i2 t9)",
              R"(run begin/0 r2
                 publish running begin/0)");
}

TEST(AddEvent, takes_the_lowest_slot_that_is_free) {
  Table table(kAddLine);
  table.check(R"(last i2 r2
                 work running 1 r2 A1 i2 t3)",
              table.add("A2"),
              R"(last i3 r3
                 work running 0 r3 A2 i3 t5
                 work running 1 r2 A1 i2 t3)",
              R"(run work/0 r3
                 publish running work/0)");
}

TEST(AddEvent, without_a_free_slot_it_waits_at_the_end_of_the_queue) {
  Table table(kAddLine);
  table.check(R"(last i3 r2
                 work running 0 r1 A1 i1 t3
                 work running 1 r2 A2 i2 t3
                 work queued A3 i3)",
              table.add("A4"),
              R"(last i4 r2
                 work running 0 r1 A1 i1 t3
                 work running 1 r2 A2 i2 t3
                 work queued A3 i3
                 work queued A4 i4)",
              "publish preparing work");
}

TEST(AddEvent, goes_to_every_step_that_takes_it_in_the_order_of_their_names) {
  Table table(R"(
    zebra: A -> B
    ape: A -> B
    lion: B -> Stop)");
  table.check("last", table.add("A1"),
              R"(last i2 r2
                 ape running 0 r1 A1 i1 t5
                 zebra running 0 r2 A1 i2 t5)",
              R"(run ape/0 r1
                 publish running ape/0
                 run zebra/0 r2
                 publish running zebra/0)");
}

TEST(AddEvent, a_target_is_the_only_step_that_gets_it) {
  Table table("ape: A -> B \n zebra: A -> B");
  table.check("last", table.add_to("zebra", "A1"),
              R"(last i1 r1
                 zebra running 0 r1 A1 i1 t5)",
              R"(run zebra/0 r1
                 publish running zebra/0)");
}

TEST(AddEvent, that_nobody_takes_is_told) {
  Table table(kAddLine);
  table.check("last", table.add("Stop1"), "last",
              R"(publish unhandled Stop1 idle
                 schedule idle-check)");
  table.check(R"(last i1 r1
                 work running 0 r1 A1 i1 t3)",
              table.add_to("work", "B1"),
              R"(last i1 r1
                 work running 0 r1 A1 i1 t3)",
              "publish unhandled B1 to work");
}

TEST(AddEvent, a_question_that_nobody_inside_takes_is_as_it_should_be) {
  Table table("work: A -> Ask");
  table.check("last", table.add("Ask1"), "last", "schedule idle-check");
}

TEST(AddEvent, the_lineage_goes_along) {
  Table table("work: A -> B \n rescue!2: StepFailed -> A");
  AddEvent tick = table.add("A1");
  tick.lineage = {{table.step("rescue"), 1}};
  table.check("last", tick, "last i1 r1 \n work running 0 r1 A1 i1 t5 rescue=1",
              "run work/0 r1 \n publish running work/0");
}

// --- those who wait

constexpr char kWaits[] = R"(
  ask*1: A -> B
  other: Answer -> C
)";

TEST(AddEvent, wakes_who_waits_for_it_and_goes_to_the_other_steps) {
  Table table(kWaits);
  table.check(R"(last i1 r1
                 ask waits w Answer for A1 i1 t2 until 90)",
              table.add("Answer7"),
              R"(last i2 r3
                 ask running 0 r2 A1 i1 t5
                 ask waits w Answer for A1 i1 t2 answered Answer7
                 other running 0 r3 Answer7 i2 t5)",
              R"(run ask/0 r2
                 publish running ask/0
                 run other/0 r3
                 publish running other/0)");
}

TEST(AddEvent, a_target_does_not_keep_it_from_those_who_wait) {
  Table table(kWaits);
  table.check(R"(last i1 r1
                 ask waits w Answer for A1 i1)",
              table.add_to("other", "Answer7"),
              R"(last i2 r3
                 ask running 0 r2 A1 i1 t5
                 ask waits w Answer for A1 i1 answered Answer7
                 other running 0 r3 Answer7 i2 t5)",
              R"(run ask/0 r2
                 publish running ask/0
                 run other/0 r3
                 publish running other/0)");
}

TEST(AddEvent, a_step_that_takes_and_awaits_a_type_is_only_woken) {
  Table table("ask: Answer -> B");
  table.check(R"(last i1 r1
                 ask waits w Answer for Answer1 i1)",
              table.add("Answer2"),
              R"(last i1 r2
                 ask running 0 r2 Answer1 i1 t5
                 ask waits w Answer for Answer1 i1 answered Answer2)",
              "run ask/0 r2 \n publish running ask/0");
}

TEST(AddEvent, only_answers_a_waiter_whose_requirements_it_meets) {
  Table table(kWaits);
  const char* const before = R"(last i2 r2
      ask waits w Answer for A1 i1 where who.id=1
      ask waits w Answer for A2 i2 where who.id=2 where ok=true)";
  table.check(before, table.add_to("ask", R"(Answer{"who":{"id":2},"ok":true})"),
              R"(last i2 r3
                 ask running 0 r3 A2 i2 t5
                 ask waits w Answer for A1 i1 where who.id=1
                 ask waits w Answer for A2 i2 where who.id=2 where ok=true answered )"
              R"(Answer{"ok":true,"who":{"id":2}})",
              "run ask/0 r3 \n publish running ask/0");
  table.check(before, table.add_to("ask", R"(Answer{"who":{"id":2}})"), before,
              R"(publish unhandled Answer{"who":{"id":2}} to ask idle
                 schedule idle-check)");
  table.check(before, table.add_to("ask", "Answer3"), before,
              R"(publish unhandled Answer3 to ask idle
                 schedule idle-check)");
}

// The second of two waits in sequence gets the second answer, and the step is started once for it.
TEST(AddEvent, does_not_answer_what_is_answered_already) {
  Table table(kWaits);
  table.check(R"(last i1 r2
                 ask waits first Answer for A1 i1 answered Answer1
                 ask waits second Answer for A1 i1)",
              table.add_to("ask", "Answer2"),
              R"(last i1 r3
                 ask running 0 r3 A1 i1 t5
                 ask waits first Answer for A1 i1 answered Answer1
                 ask waits second Answer for A1 i1 answered Answer2)",
              "run ask/0 r3 \n publish running ask/0");
  const char* const before = R"(last i1 r2
      ask running 0 r2 A1 i1 t5
      ask waits first Answer for A1 i1 answered Answer1)";
  table.check(before, table.add_to("ask", "Answer2"), before, "publish unhandled Answer2 to ask");
  const char* const late = R"(last i1 r2
      ask running 0 r2 A1 i1 t5
      ask waits first Answer for A1 i1 timed-out)";
  table.check(late, table.add_to("ask", "Answer2"), late, "publish unhandled Answer2 to ask");
}

TEST(AddEvent, a_trigger_that_finds_no_slot_waits_for_one) {
  Table table(kWaits);
  table.check(R"(last i2 r2
                 ask running 0 r2 A2 i2 t4
                 ask waits w Answer for A1 i1 f2 t2)",
              table.add_to("ask", "Answer7"),
              R"(last i2 r2
                 ask running 0 r2 A2 i2 t4
                 ask queued A1 i1
                 ask waits w Answer for A1 i1 f2 t2 answered Answer7)",
              "publish preparing ask");
}

}  // namespace
}  // namespace holdfast::steps::testing
