// SPDX-License-Identifier: Apache-2.0
// The ticks that are a few lines each.
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kTicksLine[] = R"(
  begin: Start -> A
  work*1: A -> B
  end: B -> Stop
)";

TEST(CancelRun, says_so_and_halts_and_leaves_the_state_for_who_looks) {
  Table table(kTicksLine);
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t2", CancelRun{"enough"},
              "last i1 r1 \n work running 0 r1 A1 i1 t2",
              "publish cancelled: enough \n halt cancelled: enough");
}

TEST(CancelRun, may_be_what_a_step_does) {
  Table table(kTicksLine);
  table.check("last i2 r1 \n work running 0 r1 A1 i1 t2 \n work queued A2 i2",
              table.result(1, CancelRun{"enough"}, table.returns("B1")),
              "last i2 r1 \n work queued A2 i2",
              R"(publish not-running work/0
                 publish cancelled: enough
                 halt cancelled: enough)");
}

TEST(Timeout, names_the_steps_that_were_running) {
  Table table(kTicksLine, 40);
  table.check(R"(last i3 r2
                 deadline 45
                 begin running 0 r2 Start1 i3 t2
                 end waits w A for B1 i2
                 work running 0 r1 A1 i1 t2)",
              Timeout{},
              R"(last i3 r2
                 not running
                 deadline 45
                 begin running 0 r2 Start1 i3 t2
                 end waits w A for B1 i2
                 work running 0 r1 A1 i1 t2)",
              "publish timed-out after 40 begin work \n halt timed-out");
}

TEST(WaiterTimeout, runs_the_trigger_again_and_tells_it) {
  Table table(kTicksLine);
  table.check(R"(last i1 r1
                 work waits a B for A1 i1 f1 t2 answered B1
                 work waits b B for A1 i1 f1 t2 until 5)",
              WaiterTimeout{table.step("work"), 1, "b"},
              R"(last i1 r2
                 work running 0 r2 A1 i1 t5
                 work waits a B for A1 i1 f1 t2 answered B1
                 work waits b B for A1 i1 f1 t2 timed-out)",
              "run work/0 r2 \n publish running work/0");
}

TEST(WaiterTimeout, of_what_is_not_open_is_nothing) {
  Table table(kTicksLine);
  const char* const answered = "last i1 r1 \n work waits w B for A1 i1 answered B1";
  const StepIndex work = table.step("work");
  table.check(answered, WaiterTimeout{work, 1, "w"}, answered, "schedule idle-check");
  table.check(answered, WaiterTimeout{work, 1, "other"}, answered, "schedule idle-check");
  table.check(answered, WaiterTimeout{work, 2, "w"}, answered, "schedule idle-check");
  table.check(answered, WaiterTimeout{99, 1, "w"}, answered, "schedule idle-check");
  const char* const late =
      "last i1 r2 \n work running 0 r2 A1 i1 t4 \n"
      "work waits w B for A1 i1 timed-out";
  table.check_ignored(late, WaiterTimeout{work, 1, "w"});
}

TEST(Publish, puts_an_event_out) {
  Table table(kTicksLine);
  table.check("last i1 r1 \n work running 0 r1 A1 i1 t2", Publish{table.event("B7")},
              "last i1 r1 \n work running 0 r1 A1 i1 t2", "publish event B7");
}

TEST(IdleCheck, says_so_if_nothing_is_left_to_do) {
  Table table(kTicksLine);
  table.check("last i1", IdleCheck{}, "last i1", "publish idle");
  table.check("last i1 \n work waits w B for A1 i1", IdleCheck{},
              "last i1 \n work waits w B for A1 i1", "publish idle");
}

TEST(IdleCheck, says_nothing_of_a_run_that_is_busy_or_over) {
  Table table(kTicksLine);
  table.check_ignored("last i1 r1 \n work running 0 r1 A1 i1 t2", IdleCheck{});
  table.check_ignored("last i1 r1 \n work queued A1 i1 t2 @90", IdleCheck{});
  table.check_ignored("last i1 \n not running", IdleCheck{});
}

TEST(IdleCheck, fails_a_run_whose_fan_out_could_never_close) {
  Table table(kTicksLine);
  table.check("last s1 \n stream 1 open 1 in 0", IdleCheck{},
              "last s1 \n not running \n stream 1 open 1 in 0",
              "publish failed steps.stuck_fan_out \n fail steps.stuck_fan_out");
  // Something waits inside, also inside what is inside.
  const char* const waits = R"(last i1 s2
      work waits w B for A1 i1 s2
      stream 1 open 1 in 0
      stream 2 open 1 in 1)";
  table.check(waits, IdleCheck{}, waits, "publish idle");
}

TEST(IdleCheck, looks_for_what_waits_in_every_fan_out_once) {
  Table table(kTicksLine);
  // Two in the same one, and one whose fan-out is not there any more.
  const char* const waits = R"(last i3 s1
      work waits w B for A1 i1 s1
      work waits w B for A1 i2 s1
      work waits w B for A1 i3 s7
      stream 1 open 2 in 0)";
  table.check(waits, IdleCheck{}, waits, "publish idle");
}

TEST(IdleRelease, lets_go_of_a_run_that_is_idle_and_of_no_other) {
  Table table(kTicksLine);
  table.check("last i1", IdleRelease{}, "last i1", "release");
  table.check_ignored("last i1 r1 \n work running 0 r1 A1 i1 t2", IdleRelease{});
  table.check_ignored("last i1 r1 \n work queued A1 i1 t2 @90", IdleRelease{});
  table.check_ignored("last i1 \n not running", IdleRelease{});
}

}  // namespace
}  // namespace holdfast::steps::testing
