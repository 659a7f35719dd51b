// SPDX-License-Identifier: Apache-2.0
// Schedules in a world: what each due time comes to, over overlaps, downtime, pauses and crashes.
#include "schedules/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/testing_world.h"

namespace holdfast::schedules {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ns_at;
using testing::ScheduleWorld;
using testing::spec_of;

TEST(ScheduleMachine, each_due_time_starts_one_instance_with_its_key_and_value) {
  ScheduleWorld world;
  world.add(spec_of("*/5 * * * *"));
  world.go_until("2026-01-01T00:11:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"));
  const Cell cell = world.schedule();
  EXPECT_EQ(cell.counts.started, 2u);
  EXPECT_EQ(cell.next_ns, ns_at("2026-01-01T00:15:00Z"));
  world.crash();
}

TEST(ScheduleMachine, summer_time_begins_and_ends) {
  ScheduleWorld world("2026-03-28T00:00:00Z", "Europe/Berlin");
  Spec spec = spec_of("30 2 * * *");
  spec.rule.zone = "Europe/Berlin";
  world.add(spec);
  world.go_until("2026-03-30T12:00:00Z");
  EXPECT_THAT(world.jobs(),
              ElementsAre("2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"));
  ScheduleWorld autumn("2026-10-24T12:00:00Z", "Europe/Berlin");
  autumn.add(spec);
  autumn.go_until("2026-10-26T12:00:00Z");
  EXPECT_THAT(autumn.jobs(), ElementsAre("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"));
}

TEST(ScheduleMachine, skip_leaves_out_what_meets_a_run) {
  ScheduleWorld world;
  world.add(spec_of("*/5 * * * *", Overlap::kSkip));
  world.go_until("2026-01-01T00:11:00Z");
  world.finish("2026-01-01T00:05:00Z");
  world.go_until("2026-01-01T00:16:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T00:05:00Z", "2026-01-01T00:15:00Z"));
  EXPECT_THAT(world.recent(),
              ElementsAre("2026-01-01T00:05:00Z completed", "2026-01-01T00:10:00Z skipped",
                          "2026-01-01T00:15:00Z running"));
}

TEST(ScheduleMachine, queue_starts_one_after_the_other) {
  ScheduleWorld world;
  world.add(spec_of("*/5 * * * *", Overlap::kQueue));
  world.go_until("2026-01-01T00:16:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T00:05:00Z"));
  EXPECT_EQ(world.schedule().queued.size(), 2u);
  world.finish("2026-01-01T00:05:00Z", true);
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"));
  world.finish("2026-01-01T00:10:00Z");
  world.finish("2026-01-01T00:15:00Z");
  EXPECT_THAT(world.recent(),
              ElementsAre("2026-01-01T00:05:00Z failed", "2026-01-01T00:10:00Z completed",
                          "2026-01-01T00:15:00Z completed"));
  world.go_until("2026-01-02T00:00:00Z");
  EXPECT_EQ(world.schedule().queued.size(), kMostQueued);
  EXPECT_GT(world.schedule().counts.skipped, 100u);
}

TEST(ScheduleMachine, cancel_ends_the_earlier_run_first) {
  ScheduleWorld world;
  world.add(spec_of("*/5 * * * *", Overlap::kCancel));
  world.go_until("2026-01-01T00:11:00Z");
  EXPECT_EQ(world.status_of_job("2026-01-01T00:05:00Z"), "cancelled");
  EXPECT_EQ(world.status_of_job("2026-01-01T00:10:00Z"), "running");
  EXPECT_EQ(world.schedule().counts.cancelled, 1u);
}

TEST(ScheduleMachine, allow_runs_a_hundred_at_once_and_no_more) {
  ScheduleWorld world;
  world.add(spec_of("* * * * *", Overlap::kAllow));
  world.go_until("2026-01-01T01:45:30Z");
  EXPECT_EQ(world.jobs().size(), kMostRuns);
  EXPECT_EQ(world.schedule().counts.skipped, 5u);
}

TEST(ScheduleMachine, after_downtime_the_policy_says_which_due_times_are_started) {
  const auto started_by = [](CatchUp policy, std::uint64_t window_ns) {
    ScheduleWorld world;
    Spec spec = spec_of("0 * * * *");
    spec.catch_up = policy;
    spec.window_ns = window_ns;
    world.add(spec);
    world.go_until("2026-01-01T01:30:00Z");
    world.be_down_until("2026-01-01T05:30:00Z");
    world.crash();
    world.go_until("2026-01-01T06:30:00Z");
    const Cell cell = world.schedule();
    EXPECT_EQ(cell.counts.started + cell.counts.missed + cell.counts.skipped, 6u);
    return world.jobs();
  };
  constexpr std::uint64_t kHour = 3600 * kSecondNs;
  const std::string first = "2026-01-01T01:00:00Z";
  const std::string last = "2026-01-01T06:00:00Z";
  EXPECT_THAT(started_by(CatchUp::kNone, 24 * kHour), ElementsAre(first, last));
  EXPECT_THAT(started_by(CatchUp::kLatest, 24 * kHour),
              ElementsAre(first, "2026-01-01T05:00:00Z", last));
  EXPECT_THAT(started_by(CatchUp::kAll, 24 * kHour),
              ElementsAre(first, "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z",
                          "2026-01-01T04:00:00Z", "2026-01-01T05:00:00Z", last));
  EXPECT_THAT(started_by(CatchUp::kAll, 2 * kHour),
              ElementsAre(first, "2026-01-01T04:00:00Z", "2026-01-01T05:00:00Z", last));
  EXPECT_THAT(started_by(CatchUp::kLatest, kHour / 4), ElementsAre(first, last));
}

TEST(ScheduleMachine, many_missed_due_times_are_decided_in_order_and_in_pieces) {
  ScheduleWorld world;
  Spec spec = spec_of("* * * * *", Overlap::kQueue);
  spec.catch_up = CatchUp::kAll;
  world.add(spec);
  world.be_down_until("2026-01-01T01:20:30Z");
  world.go_until("2026-01-01T01:20:40Z");
  const Cell cell = world.schedule();
  EXPECT_EQ(cell.runs.size() + cell.queued.size(), 80u);
  EXPECT_TRUE(std::is_sorted(cell.queued.begin(), cell.queued.end()));
  EXPECT_EQ(cell.counts.missed, 0u);
}

TEST(ScheduleMachine, late_by_less_than_the_grace_is_on_time) {
  ScheduleWorld world;
  Spec spec = spec_of("0 * * * *");
  spec.catch_up = CatchUp::kNone;
  world.add(spec);
  world.be_down_until("2026-01-01T01:00:29Z");
  world.go_until("2026-01-01T01:01:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T01:00:00Z"));
}

TEST(ScheduleMachine, a_clock_that_jumps_starts_nothing_twice) {
  ScheduleWorld world;
  world.add(spec_of("0 * * * *"));
  world.go_until("2026-01-01T02:30:00Z");
  world.set_clock("2026-01-01T00:10:00Z");  // back
  world.go_until("2026-01-01T03:30:00Z");
  EXPECT_THAT(world.jobs(),
              ElementsAre("2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"));
  world.set_clock("2026-01-03T00:00:30Z");  // ahead
  world.go_until("2026-01-03T00:00:40Z");
  world.set_clock("2026-01-01T03:40:00Z");
  world.go_until("2026-01-03T01:30:00Z");
  EXPECT_THAT(world.jobs(),
              ElementsAre("2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z",
                          "2026-01-03T00:00:00Z", "2026-01-03T01:00:00Z"));
}

TEST(ScheduleMachine, what_passes_while_it_is_paused_is_missed) {
  ScheduleWorld world;
  world.add(spec_of("0 * * * *"));
  world.go_until("2026-01-01T01:30:00Z");
  world.control(Action::kPause);
  world.control(Action::kPause);
  world.go_until("2026-01-01T03:30:00Z");
  EXPECT_EQ(world.schedule().phase, Phase::kPaused);
  EXPECT_EQ(world.world().open_intents(), 1u) << "the run that it has started";
  world.control(Action::kResume);
  world.go_until("2026-01-01T04:30:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T01:00:00Z", "2026-01-01T04:00:00Z"));
  EXPECT_EQ(world.schedule().counts.missed, 2u);
}

TEST(ScheduleMachine, it_runs_now_when_it_is_asked_to_also_while_it_is_paused) {
  ScheduleWorld world;
  world.add(spec_of("0 12 * * *"), false, true);
  EXPECT_EQ(world.schedule().phase, Phase::kPaused);
  world.control(Action::kRun);
  world.control(Action::kRun);
  EXPECT_EQ(world.jobs().size(), 2u);
  EXPECT_EQ(world.schedule().counts.started, 2u);
}

TEST(ScheduleMachine, removed_it_goes_when_its_runs_have_ended) {
  ScheduleWorld world;
  world.add(spec_of("0 * * * *"));
  world.go_until("2026-01-01T01:30:00Z");
  world.control(Action::kRemove);
  EXPECT_EQ(world.schedule().phase, Phase::kRemoving);
  world.go_until("2026-01-01T02:30:00Z");
  EXPECT_EQ(world.status_of_job("2026-01-01T01:00:00Z"), "running");
  world.finish("2026-01-01T01:00:00Z");
  EXPECT_FALSE(world.has_schedule());
  EXPECT_EQ(world.world().open_intents(), 0u);
  world.add(spec_of("0 * * * *"));
  world.control(Action::kRemove);
  EXPECT_FALSE(world.has_schedule()) << "nothing ran";
}

TEST(ScheduleMachine, removed_with_its_runs_it_cancels_them) {
  ScheduleWorld world;
  world.add(spec_of("0 * * * *"));
  world.go_until("2026-01-01T01:30:00Z");
  world.control(Action::kRemoveAndCancel);
  EXPECT_EQ(world.status_of_job("2026-01-01T01:00:00Z"), "cancelled");
  EXPECT_FALSE(world.has_schedule());
}

TEST(ScheduleMachine, a_new_rule_replaces_the_old_one_only_if_it_says_so) {
  ScheduleWorld world;
  world.add(spec_of("0 * * * *"));
  world.add(spec_of("30 * * * *"));
  world.go_until("2026-01-01T00:45:00Z");
  EXPECT_THAT(world.jobs(), IsEmpty());
  world.add(spec_of("50 * * * *"), true);
  world.go_until("2026-01-01T01:30:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T00:50:00Z"));
}

TEST(ScheduleMachine, one_moment_is_started_once_and_then_the_schedule_has_ended) {
  ScheduleWorld world;
  Spec spec = spec_of("");
  spec.rule.at_ns = ns_at("2026-01-05T12:00:00Z");
  spec.key = "once";
  world.add(spec);
  world.go_until("2026-01-06T00:00:00Z");
  EXPECT_THAT(world.jobs(), ElementsAre("once"));
  EXPECT_EQ(world.schedule().phase, Phase::kEnded);
  world.finish("once");
  const auto values = world.world().read(defs::kScheduleWorkflow, key_of("s"));
  ASSERT_TRUE(values && *values);
  EXPECT_EQ((*values)->status, kernel::Status::kCompleted);
  EXPECT_EQ(kernel::testing::json_of((*values)->outcome),
            R"({"missed":0,"skipped":0,"started":1})");
}

TEST(ScheduleMachine, a_start_that_is_refused_is_a_failure_with_its_reason) {
  ScheduleWorld world;
  Spec spec = spec_of("0 * * * *");
  spec.workflow = "job/Gone@1";
  world.add(spec);
  world.go_until("2026-01-01T02:30:00Z");
  const Cell cell = world.schedule();
  EXPECT_EQ(cell.counts.failed, 2u);
  EXPECT_THAT(cell.recent.back().note, HasSubstr("workflow.unknown"));
}

TEST(ScheduleMachine, without_the_rules_of_its_zone_it_says_so_and_tries_again) {
  ScheduleWorld world;
  world.has_zones = false;
  world.add(spec_of("0 * * * *"));
  world.go_until("2026-01-01T02:30:00Z");
  EXPECT_THAT(world.schedule().error, HasSubstr("schedule.zone"));
  EXPECT_THAT(world.jobs(), IsEmpty());
  world.has_zones = true;
  world.go_until("2026-01-01T03:30:00Z");
  EXPECT_EQ(world.schedule().error, "");
  EXPECT_THAT(world.jobs(), Contains("2026-01-01T03:00:00Z"));
}

TEST(ScheduleMachine, jitter_delays_a_start_and_not_its_key) {
  ScheduleWorld world;
  Spec spec = spec_of("0 * * * *");
  spec.jitter_ns = 600 * kSecondNs;
  const std::uint64_t due = ns_at("2026-01-01T01:00:00Z");
  const std::uint64_t delay = delay_of(spec, "s", due);
  ASSERT_GT(delay, 2 * kSecondNs);
  ASSERT_LE(delay, spec.jitter_ns);
  world.add(spec);
  world.go_until(due_text(due + delay - kSecondNs));
  EXPECT_THAT(world.jobs(), IsEmpty());
  world.go_until(due_text(due + delay + kSecondNs));
  EXPECT_THAT(world.jobs(), ElementsAre("2026-01-01T01:00:00Z"));
}

// A story with everything in it: runs, overlaps, a pause, a run by hand, downtime, a change.
void play(ScheduleWorld& world, Overlap overlap, CatchUp catch_up) {
  Spec spec = spec_of("*/10 * * * *", overlap);
  spec.catch_up = catch_up;
  spec.jitter_ns = 20 * kSecondNs;
  world.add(spec);
  world.go_until("2026-01-01T00:25:00Z");
  const auto running = world.schedule().runs;
  if (!running.empty()) world.finish(running.front().key);
  world.control(Action::kRun);
  world.be_down_until("2026-01-01T01:05:00Z");
  world.go_until("2026-01-01T01:25:00Z");
  world.control(Action::kPause);
  world.go_until("2026-01-01T01:45:00Z");
  world.control(Action::kResume);
  world.go_until("2026-01-01T02:05:00Z");
  world.control(Action::kRemoveAndCancel);
}

TEST(ScheduleMachine, killed_after_any_record_it_starts_the_same_and_each_due_time_once) {
  for (const Overlap overlap :
       {Overlap::kSkip, Overlap::kQueue, Overlap::kAllow, Overlap::kCancel}) {
    for (const CatchUp catch_up : {CatchUp::kNone, CatchUp::kLatest, CatchUp::kAll}) {
      ScheduleWorld whole;
      play(whole, overlap, catch_up);
      const std::vector<std::string> expected = whole.jobs();
      ASSERT_GE(expected.size(), 2u);
      for (std::size_t stop = 1; stop <= whole.records(); ++stop) {
        ScheduleWorld world;
        bool is_over = false;
        world.before_tick = [&] {
          if (world.records() < stop || is_over) return;
          is_over = true;
          stop % 2 == 0 ? world.crash() : world.put_away();
        };
        play(world, overlap, catch_up);
        ASSERT_EQ(world.jobs(), expected)
            << name_of(overlap) << " " << name_of(catch_up) << " after record " << stop;
        ASSERT_EQ(world.records(), whole.records());
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::schedules
