// SPDX-License-Identifier: Apache-2.0
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kResultLine[] = R"(
  begin: Start -> A
  work*2: A -> B
  end: B -> Stop
  ask: C -> Ask
)";

TEST(StepResult, what_is_returned_is_queued_when_the_slot_is_free) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 begin running 0 r1 Start1 i1 t2)",
              table.result(1, table.returns("A1")), "last i1 r1",
              R"(publish not-running begin/0
                 queue A1
                 schedule idle-check)");
}

TEST(StepResult, nothing_returned_begins_nothing) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 begin running 0 r1 Start1 i1 t2)",
              table.result(1, table.returns_nothing()), "last i1 r1",
              "publish not-running begin/0 \n schedule idle-check");
}

TEST(StepResult, a_question_is_put_out_before_it_is_queued) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 ask running 0 r1 C1 i1 t2)",
              table.result(1, table.returns("Ask1")), "last i1 r1",
              R"(publish not-running ask/0
                 publish event Ask1
                 queue Ask1
                 schedule idle-check)");
}

TEST(StepResult, a_free_slot_goes_to_the_first_in_the_queue) {
  Table table(kResultLine);
  table.check(R"(last i4 r2
                 work running 0 r1 A1 i1 t2
                 work running 1 r2 A2 i2 t2
                 work queued A3 i3
                 work queued A4 i4)",
              table.result(1, table.returns("B1")),
              R"(last i4 r3
                 work running 0 r3 A3 i3 t5
                 work running 1 r2 A2 i2 t2
                 work queued A4 i4)",
              R"(publish not-running work/0
                 queue B1
                 run work/0 r3
                 publish running work/0)");
}

TEST(StepResult, a_stop_event_ends_the_run_and_leaves_nothing) {
  Table table(kResultLine);
  table.check(R"(last i4 r3
                 end running 0 r3 B1 i3 t2
                 work running 0 r1 A1 i1 t2
                 work queued A3 i4
                 work buffer default c1 A9
                 work waits w Ask for A1 i2)",
              table.result(3, table.returns("Stop9")), "last i4 r3 \n not running",
              R"(publish not-running end/0
                 publish stopped Stop9
                 complete Stop9)");
}

TEST(StepResult, what_a_body_did_becomes_true_in_its_order) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 work running 0 r1 A1 i1 t2)",
              table.result(1, table.streams("C1"), table.sends("A2"), table.stores("n", "1"),
                           table.sends_to("end", "B2"), table.streams("C2"), table.returns("B1")),
              R"(last i1 r1 c1
                 store n c1 1)",
              R"(publish not-running work/0
                 publish event C1
                 queue A2
                 queue B2 to end
                 publish event C2
                 queue B1
                 schedule idle-check)");
}

TEST(StepResult, of_a_run_that_nobody_waits_for_is_ignored) {
  Table table(kResultLine);
  table.check_ignored("last i1 r2 \n work running 0 r2 A1 i1 t2",
                      table.result(1, table.returns("Stop1")));
}

TEST(StepResult, nothing_is_done_behind_a_stop) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 end running 0 r1 B1 i1 t2)",
              table.result(1, table.sends("A1"), table.returns("Stop1"), table.streams("C1")),
              "last i1 r1 \n not running",
              R"(publish not-running end/0
                 queue A1
                 publish stopped Stop1
                 complete Stop1)");
}

TEST(StepResult, lineage_follows_what_is_returned_and_what_is_sent) {
  Table table("work: A -> A \n rescue!2: StepFailed -> A");
  table.check(R"(last i1 r1
                 work running 0 r1 A1 i1 t2 rescue=1)",
              table.result(1, table.sends("A2"), table.returns("A3")), "last i1 r1",
              R"(publish not-running work/0
                 queue A2 rescue=1
                 queue A3 rescue=1
                 schedule idle-check)");
}

// --- the store of the run

TEST(StepResult, a_store_entry_is_set_replaced_and_erased) {
  Table table(kResultLine);
  table.check(R"(last i1 r1 c2
                 begin running 0 r1 Start1 i1 t2 saw2
                 store a c1 1
                 store c c2 2)",
              table.result(1, table.stores("b", "7"), table.stores("a", "8"), table.erases("c"),
                           table.erases("never")),
              R"(last i1 r1 c5
                 store a c4 8
                 store b c3 7)",
              "publish not-running begin/0 \n schedule idle-check");
}

TEST(StepResult, an_update_of_what_has_changed_since_runs_again) {
  Table table(kResultLine);
  table.check(R"(last i2 r2 c3
                 work running 0 r1 A1 i1 t2 saw2
                 work running 1 r2 A2 i2 t2 saw3
                 store n c3 1)",
              table.result(1, table.streams("C1"), table.updates("n", "2"), table.returns("B1")),
              R"(last i2 r3 c3
                 work running 0 r3 A1 i1 t2 saw3
                 work running 1 r2 A2 i2 t2 saw3
                 store n c3 1)",
              "run work/0 r3");
  table.check(R"(last i2 r2 c3
                 work running 0 r1 A1 i1 t2 saw2
                 store n c3 1)",
              table.result(1, table.stores("n", "2")),
              R"(last i2 r2 c4
                 store n c4 2)",
              "publish not-running work/0 \n schedule idle-check");
}

TEST(StepResult, what_is_erased_is_remembered_while_somebody_may_have_seen_it) {
  Table table(kResultLine);
  table.check(R"(last i2 r2 c1
                 work running 0 r1 A1 i1 t2 saw1
                 work running 1 r2 A2 i2 t2 saw1
                 store n c1 1)",
              table.result(1, table.erases("n")),
              R"(last i2 r2 c2
                 work running 1 r2 A2 i2 t2 saw1
                 store n c2)",
              "publish not-running work/0");
  table.check(R"(last i2 r2 c2
                 work running 1 r2 A2 i2 t2 saw1
                 store n c2)",
              table.result(2, table.updates("n", "2")),
              R"(last i2 r3 c2
                 work running 1 r3 A2 i2 t2 saw2
                 store n c2)",
              "run work/1 r3");
}

// --- a wait

TEST(StepResult, a_step_that_begins_to_wait_leaves_its_slot_and_a_waiter) {
  Table table(kResultLine);
  table.check(R"(last i2 r1
                 work running 0 r1 A1 i1 f1 t2
                 work queued A2 i2 @7)",
              table.result(1, table.streams("C1"), table.sends("A9"),
                           table.asks("Ask1", table.where("x", "3", table.waits("w", "C", 50)))),
              R"(last i2 r1
                 work queued A2 i2 @7
                 work waits w C for A1 i1 f1 t2 out2 until 55 where x=3)",
              R"(publish not-running work/0
                 publish event C1
                 queue A9
                 publish event Ask1
                 schedule timeout of work i1 w @55)");
}

TEST(StepResult, a_wait_that_is_there_already_is_replaced_in_silence_and_keeps_its_deadline) {
  Table table(kResultLine);
  table.check(R"(last i1 r2
                 work running 0 r2 A1 i1 t2
                 work waits w C for A1 i1 t2 until 30 where x=3)",
              table.result(2, table.asks("Ask1", table.waits("w", "C", 50))),
              R"(last i1 r2
                 work waits w C for A1 i1 t2 until 30)",
              "publish not-running work/0 \n schedule idle-check");
}

TEST(StepResult, what_came_before_a_wait_goes_out_once) {
  Table table(kResultLine);
  // The second wait: the first entry is out already, the second is not. Edits wait for the end.
  table.check(R"(last i1 r2
                 work running 0 r2 A1 i1 t2
                 work waits first C for A1 i1 t2 out1 answered C1)",
              table.result(2, table.streams("C1"), table.streams("C2"), table.stores("n", "1"),
                           table.waits("second", "C"), table.streams("C3")),
              R"(last i1 r2
                 work waits first C for A1 i1 t2 out1 answered C1
                 work waits second C for A1 i1 t2 out2)",
              "publish not-running work/0 \n publish event C2 \n schedule idle-check");
  // The end: only what came behind the waits.
  table.check(R"(last i1 r3
                 work running 0 r3 A1 i1 t2
                 work waits first C for A1 i1 t2 out1 answered C1
                 work waits second C for A1 i1 t2 out2 answered C2)",
              table.result(3, table.streams("C1"), table.streams("C2"), table.streams("C3"),
                           table.returns("B1")),
              "last i1 r3",
              R"(publish not-running work/0
                 publish event C3
                 queue B1
                 schedule idle-check)");
}

TEST(StepResult, a_wait_of_another_item_under_the_same_id_is_another_wait) {
  Table table(kResultLine);
  table.check(R"(last i2 r2
                 work running 0 r2 A2 i2 t2
                 work waits w C for A1 i1 t2)",
              table.result(2, table.waits("w", "C")),
              R"(last i2 r2
                 work waits w C for A1 i1 t2
                 work waits w C for A2 i2 t2)",
              "publish not-running work/0 \n schedule idle-check");
}

TEST(StepResult, an_answer_is_kept_until_the_body_has_ended_well) {
  Table table(kResultLine);
  // A second wait, and a failure, still find the first answer.
  table.check(R"(last i1 r2
                 work running 0 r2 A1 i1 t2
                 work waits first C for A1 i1 t2 answered C1)",
              table.result(2, table.waits("second", "C")),
              R"(last i1 r2
                 work waits first C for A1 i1 t2 answered C1
                 work waits second C for A1 i1 t2)",
              "publish not-running work/0 \n schedule idle-check");
  table.check(R"(last i1 r2
                 work running 0 r2 A1 i1 t2
                 work waits first C for A1 i1 t2 answered C1)",
              table.result(2, table.fails_and_retries("oops", 3)),
              R"(last i1 r2
                 work queued A1 i1 f1 t2 @8
                 work waits first C for A1 i1 t2 answered C1)",
              "publish not-running work/0 \n schedule wake-up @8");
  // Those of others stay.
  table.check(R"(last i2 r2
                 work running 0 r2 A1 i1 t2
                 work waits first C for A1 i1 t2 answered C1
                 work waits first C for A2 i2 t2)",
              table.result(2, table.returns("B1")),
              R"(last i2 r2
                 work waits first C for A2 i2 t2)",
              "publish not-running work/0 \n queue B1 \n schedule idle-check");
}

// --- collecting

constexpr char kPairs[] = "pair*4: A -> B \n use: B -> Stop";

TEST(StepResult, collects_into_a_buffer_that_has_not_changed) {
  Table table(kPairs);
  table.check("last i1 r1 \n pair running 0 r1 A1 i1 t2",
              table.result(1, table.collects("A1"), table.returns_nothing()),
              "last i1 r1 c1 \n pair buffer default c1 A1",
              "publish not-running pair/0 \n schedule idle-check");
  table.check(R"(last i2 r2 c1
                 pair running 0 r2 A2 i2 t2 saw1
                 pair buffer default c1 A1)",
              table.result(2, table.collects("A2", "other"), table.returns_nothing()),
              R"(last i2 r2 c2
                 pair buffer default c1 A1
                 pair buffer other c2 A2)",
              "publish not-running pair/0 \n schedule idle-check");
}

TEST(StepResult, collecting_into_what_has_changed_since_runs_again_on_the_same_slot) {
  Table table(kPairs);
  table.check(R"(last i2 r2 c1
                 pair running 1 r2 A2 i2 t2
                 pair buffer default c1 A1)",
              table.result(2, table.streams("A9"), table.collects("A2"), table.returns_nothing()),
              R"(last i2 r3 c1
                 pair running 1 r3 A2 i2 t2 saw1
                 pair buffer default c1 A1)",
              "run pair/1 r3");
}

TEST(StepResult, a_set_is_completed_once) {
  Table table(kPairs);
  // Both saw A1 and completed a pair with it. The first one wins.
  table.check(R"(last i3 r5 c1
                 pair running 1 r4 A2 i2 t2 saw1
                 pair running 2 r5 A3 i3 t2 saw1
                 pair buffer default c1 A1)",
              table.result(4, table.empties(), table.returns("B12")),
              R"(last i3 r5 c2
                 pair running 2 r5 A3 i3 t2 saw1
                 pair buffer default c2)",
              "publish not-running pair/1 \n queue B12");
  table.check(R"(last i3 r5 c2
                 pair running 2 r5 A3 i3 t2 saw1
                 pair buffer default c2)",
              table.result(5, table.empties(), table.returns("B13")),
              R"(last i3 r6 c2
                 pair running 2 r6 A3 i3 t2 saw2
                 pair buffer default c2)",
              "run pair/2 r6");
  table.check(R"(last i3 r6 c2
                 pair running 2 r6 A3 i3 t2 saw2
                 pair buffer default c2)",
              table.result(6, table.collects("A3"), table.returns_nothing()),
              R"(last i3 r6 c3
                 pair buffer default c3 A3)",
              "publish not-running pair/2 \n schedule idle-check");
}

TEST(StepResult, deciding_by_a_buffer_that_has_changed_since_runs_again_on_the_same_slot) {
  Table table(kPairs);
  // It saw A1, and that its own event is one too many; meanwhile another run has taken A1.
  table.check(R"(last i3 r5 c2
                 pair running 2 r5 A3 i3 t2 saw1
                 pair buffer default c2)",
              table.result(5, table.streams("A9"), table.saw(), table.returns("B13")),
              R"(last i3 r6 c2
                 pair running 2 r6 A3 i3 t2 saw2
                 pair buffer default c2)",
              "run pair/2 r6");
}

TEST(StepResult, deciding_by_a_buffer_leaves_it_as_it_is) {
  Table table(kPairs);
  // Who has seen the same is not out of date by it.
  table.check(R"(last i3 r5 c1
                 pair running 1 r4 A2 i2 t2 saw1
                 pair running 2 r5 A3 i3 t2 saw1
                 pair buffer default c1 A1)",
              table.result(5, table.saw(), table.saw("other"), table.returns_nothing()),
              R"(last i3 r5 c1
                 pair running 1 r4 A2 i2 t2 saw1
                 pair buffer default c1 A1)",
              "publish not-running pair/2");
}

TEST(StepResult, a_buffer_is_found_by_its_name_and_not_by_its_neighbour) {
  Table table(kResultLine);
  table.check(R"(last i1 r1 c1
                 work running 0 r1 A1 i1 t2
                 work buffer other c1 A9)",
              Table::result(1, table.collects("A1"), Table::returns_nothing()),
              R"(last i1 r1 c2
                 work buffer default c2 A1
                 work buffer other c1 A9)",
              "publish not-running work/0 \n schedule idle-check");
  table.check(R"(last i1 r1 c1
                 work running 0 r1 A1 i1 t2
                 work buffer other c1 A9)",
              Table::result(1, Table::empties(), Table::returns_nothing()),
              R"(last i1 r1 c1
                 work buffer other c1 A9)",
              "publish not-running work/0 \n schedule idle-check");
}

TEST(StepResult, an_update_is_held_against_its_own_entry_and_not_its_neighbour) {
  Table table(kResultLine);
  table.check(R"(last i1 r1 c1
                 work running 0 r1 A1 i1 t2
                 store b c1 1)",
              Table::result(1, table.updates("a", "7"), Table::returns_nothing()),
              R"(last i1 r1 c2
                 store a c2 7
                 store b c1 1)",
              "publish not-running work/0 \n schedule idle-check");
}

TEST(StepResult, a_wait_under_the_id_of_one_that_is_over_is_a_new_one) {
  Table table(kResultLine);
  table.check(R"(last i1 r1
                 work running 0 r1 A1 i1 t2
                 work waits w B for A1 i1 answered B1)",
              Table::result(1, table.waits("w", "B", 4)),
              R"(last i1 r1
                 work waits w B for A1 i1 t2 until 9)",
              R"(publish not-running work/0
                 schedule timeout of work i1 w @9
                 schedule idle-check)");
}

}  // namespace
}  // namespace holdfast::steps::testing
