// SPDX-License-Identifier: Apache-2.0
#include "registry/swaps.h"

#include "registry/signals.h"
#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using base::ErrorCode;
using testing::Actor;
using testing::code;
using testing::kSecond;
using testing::Machine;
using testing::trouble;

struct SwapsTest : ::testing::Test {
  bool has_marker() { return parse_state(*machine.file("workflows.json"))->swap.has_value(); }

  Machine machine;
  Actor job{machine, 50};
  Actor coordinator{machine, 60};
  Actor other{machine, 70};
};

TEST_F(SwapsTest, marker_names_the_recipe_and_the_coordinator_until_it_is_finished) {
  auto swap = coordinator.swap("qwen");
  ASSERT_TRUE(swap) << swap.error().to_string();
  const State state = *parse_state(*machine.file("workflows.json"));
  ASSERT_TRUE(state.swap);
  EXPECT_EQ(state.swap->recipe, "qwen");
  EXPECT_EQ(state.swap->holder.pid, 60);
  EXPECT_EQ(state.swap->holder.start_ns, 600'000'000);
  EXPECT_EQ(state.swap->id(), swap->id());
  ASSERT_TRUE(swap->finish(coordinator.site()));
  EXPECT_FALSE(has_marker());
  EXPECT_EQ(machine.lines_with("swap_begun"), 1u);
  EXPECT_EQ(machine.lines_with("swap_finished"), 1u);
  EXPECT_EQ(machine.lines_with(swap->id()), 2u);
  EXPECT_EQ(machine.orphan_lines(), 0u);
  EXPECT_EQ(code(swap->finish(coordinator.site())), ErrorCode::kConflict) << "it is over";
}

TEST_F(SwapsTest, lock_comes_before_the_marker_and_goes_after_it) {
  auto swap = coordinator.swap("qwen");
  ASSERT_TRUE(swap);
  EXPECT_EQ(code(machine.disk->lock("./gpu/.swap.lock", "me")), ErrorCode::kConflict);
  // A finish that cannot be written leaves both.
  machine.disk->fail_call(2, env::DiskFault::kIoError);
  EXPECT_FALSE(swap->finish(coordinator.site()));
  EXPECT_TRUE(has_marker());
  EXPECT_EQ(other.swapping(), "qwen");
  ASSERT_TRUE(swap->finish(coordinator.site())) << "and it may be tried again";
  EXPECT_TRUE(machine.disk->lock("./gpu/.swap.lock", "me"));
  EXPECT_EQ(machine.orphan_lines(), 0u);
}

TEST_F(SwapsTest, one_whose_end_cannot_be_logged_is_over_all_the_same) {
  for (const bool finished : {true, false}) {
    for (const std::uint64_t call : {6u, 7u}) {  // behind the six of the state: write, sync
      auto swap = coordinator.swap("qwen");
      ASSERT_TRUE(swap) << trouble(swap);
      machine.disk->fail_call(call, env::DiskFault::kNoSpace);
      const auto ended =
          finished ? swap->finish(coordinator.site()) : swap->abort(coordinator.site(), "no");
      ASSERT_TRUE(ended) << trouble(ended);
      ASSERT_TRUE(ended->not_logged) << call;
      EXPECT_EQ(ended->not_logged->code(), ErrorCode::kIo);
      EXPECT_TRUE(swap->is_over());
      EXPECT_FALSE(has_marker());
    }
  }
  EXPECT_EQ(machine.orphan_lines(), 0u);
  auto next = other.swap("llama");
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->finish(other.site())->not_logged);
}

TEST_F(SwapsTest, refusal_stays_what_it_is_when_it_cannot_be_logged) {
  ASSERT_TRUE(job.lease("train", "llama"));
  ASSERT_TRUE(other.lease("batch", "mistral", true));
  const auto refused_at = [&](const std::string& recipe, std::uint64_t from_behind) {
    EXPECT_FALSE(coordinator.swap(recipe)) << "makes the log, or mends its end";
    const std::uint64_t before = machine.disk->changing_calls();
    EXPECT_FALSE(coordinator.swap(recipe));
    const std::uint64_t calls = machine.disk->changing_calls() - before;
    machine.disk->fail_call(calls - from_behind, env::DiskFault::kIoError);
    return coordinator.swap(recipe);
  };
  for (const std::uint64_t from_behind : {1u, 2u}) {  // the sync of the log, the write
    const auto conflict = refused_at("mistral", from_behind);
    EXPECT_EQ(code(conflict), ErrorCode::kConflict);
    EXPECT_NE(trouble(conflict).find("could not be logged"), std::string::npos);
  }
  ASSERT_TRUE(*release_lease(job.site(), "train", {}));
  for (const std::uint64_t from_behind : {1u, 2u}) {
    const auto late = refused_at("qwen", from_behind);
    EXPECT_EQ(code(late), ErrorCode::kUnavailable) << trouble(late);
    EXPECT_NE(trouble(late).find("could not be logged"), std::string::npos) << trouble(late);
    EXPECT_FALSE(has_marker());
    EXPECT_TRUE(machine.signals().empty());
  }
}

TEST_F(SwapsTest, second_swap_is_refused_as_busy) {
  auto first = coordinator.swap("qwen");
  ASSERT_TRUE(first);
  const auto second = other.swap("llama");
  ASSERT_FALSE(second);
  EXPECT_EQ(code(second), ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message().find("process 60"), std::string::npos);
  EXPECT_EQ(code(coordinator.swap("qwen")), ErrorCode::kUnavailable) << "by the same process too";
  EXPECT_EQ(other.swapping(), "qwen");
  ASSERT_TRUE(first->finish(coordinator.site()));
  EXPECT_TRUE(other.swap("llama"));
}

TEST_F(SwapsTest, who_needs_the_new_recipe_is_no_conflict) {
  ASSERT_TRUE(job.lease("serve", "qwen"));
  EXPECT_TRUE(coordinator.swap("qwen"));
}

TEST_F(SwapsTest, who_is_not_preemptible_refuses_the_swap_by_name) {
  ASSERT_TRUE(job.lease("train", "llama"));
  ASSERT_TRUE(other.lease("batch", "llama", true));
  const auto refused = coordinator.swap("qwen");
  ASSERT_FALSE(refused);
  EXPECT_EQ(code(refused), ErrorCode::kConflict);
  EXPECT_NE(refused.error().message().find("train (llama, process 50)"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(refused.error().message().find("batch"), std::string::npos);
  EXPECT_FALSE(has_marker());
  EXPECT_TRUE(machine.signals().empty()) << "nobody is asked to yield in vain";
  EXPECT_EQ(machine.lines_with("swap_refused"), 1u);
  EXPECT_TRUE(machine.disk->lock("./gpu/.swap.lock", "me")) << "the lock is given back";
}

TEST_F(SwapsTest, dead_and_expired_workflows_are_no_conflict) {
  Actor dying(machine, 80);
  ASSERT_TRUE(dying.lease("dead", "llama"));
  ASSERT_TRUE(job.lease("late", "llama", false, 1));
  dying.die();
  machine.clock.advance_ns(2 * kSecond);
  const auto swap = coordinator.swap("qwen");
  EXPECT_TRUE(swap) << swap.error().to_string();
  EXPECT_TRUE(list(other.site())->workflows.empty());
}

TEST_F(SwapsTest, preemptible_conflict_is_asked_and_the_swap_goes_on_when_it_yields) {
  const auto lease = job.lease("train", "llama", true);
  ASSERT_TRUE(lease);
  int polls = 0;
  coordinator.while_asleep = [&] {
    EXPECT_TRUE(*is_preempt_requested(job.site(), "train"));
    EXPECT_TRUE(machine.file(lease->signal_name));
    EXPECT_EQ(other.swapping(), "qwen") << "nobody is admitted while it waits";
    EXPECT_EQ(code(other.lease("next", "llama")), ErrorCode::kUnavailable);
    if (++polls < 3) return;
    EXPECT_TRUE(*clear_preempt(job.site(), "train", {}));
    EXPECT_TRUE(*release_lease(job.site(), "train", {}));
    EXPECT_EQ(code(job.lease("train", "llama", true)), ErrorCode::kUnavailable)
        << "and it cannot come back before the swap is over";
  };
  auto swap = coordinator.swap("qwen", 10 * kSecond);
  ASSERT_TRUE(swap) << swap.error().to_string();
  EXPECT_EQ(polls, 3);
  EXPECT_TRUE(machine.signals().empty());
  ASSERT_TRUE(swap->finish(coordinator.site()));
  EXPECT_EQ(machine.lines_with("preempt_requested"), 1u);
  EXPECT_TRUE(job.lease("train", "llama", true));
}

TEST_F(SwapsTest, preempted_workflow_that_dies_has_yielded) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  coordinator.while_asleep = [&] { job.die(); };
  auto swap = coordinator.swap("qwen", 10 * kSecond);
  ASSERT_TRUE(swap) << swap.error().to_string();
  ASSERT_TRUE(swap->finish(coordinator.site()));
  EXPECT_TRUE(machine.signals().empty());
}

// A clock that lets something happen when it is looked at.
class EventfulClock : public env::Clock {
 public:
  explicit EventfulClock(env::Clock& clock) : clock_(clock) {}
  std::int64_t wall_ns() override { return clock_.wall_ns(); }
  std::int64_t since_boot_ns() override {
    if (meanwhile) meanwhile();
    return clock_.since_boot_ns();
  }
  base::Result<std::unique_ptr<env::Alarm>> alarm(std::function<void()> ring) override {
    return clock_.alarm(std::move(ring));
  }
  std::function<void()> meanwhile;

 private:
  env::Clock& clock_;
};

TEST_F(SwapsTest, renewal_while_the_coordinator_reads_is_not_overlooked) {
  ASSERT_TRUE(job.lease("train", "llama", true, 60));
  EventfulClock clock(machine.clock);
  const Host& host = coordinator.site().host;
  const Site site{.host = {host.disk, clock, host.random, host.process, host.processes, host.sleep},
                  .place = coordinator.site().place};
  bool released = false;
  bool renewed = false;
  int looks = 0;
  clock.meanwhile = [&] {
    // The first look with the signal there is for the deadline; at the second the file was read.
    if (machine.signals().empty() || ++looks != 2) return;
    renewed = true;
    machine.clock.advance_ns(59 * kSecond);
    ASSERT_TRUE(renew_lease(job.site(), "train", {}));
    machine.clock.advance_ns(2 * kSecond);
  };
  coordinator.while_asleep = [&] {
    ASSERT_TRUE(release_lease(job.site(), "train", {}));
    released = true;
  };
  auto swap = begin_swap(site, {.recipe = "qwen", .deadline_ns = 1000 * kSecond});
  ASSERT_TRUE(swap) << swap.error().to_string();
  EXPECT_TRUE(renewed);
  EXPECT_TRUE(released) << "it began under a job that had renewed in time";
}

TEST_F(SwapsTest, deadline_aborts_and_withdraws_what_the_swap_asked) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  const std::int64_t before = machine.clock.since_boot_ns();
  const auto refused = coordinator.swap("qwen", kSecond);
  ASSERT_FALSE(refused);
  EXPECT_EQ(code(refused), ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message().find("train"), std::string::npos);
  EXPECT_EQ(machine.clock.since_boot_ns() - before, kSecond);
  EXPECT_FALSE(has_marker());
  EXPECT_TRUE(machine.signals().empty());
  EXPECT_FALSE(*is_preempt_requested(job.site(), "train"));
  EXPECT_EQ(machine.lines_with("swap_aborted"), 1u);
  EXPECT_EQ(machine.orphan_lines(), 0u);
  EXPECT_EQ(job.live(), "train") << "nobody is killed";
  EXPECT_TRUE(machine.disk->lock("./gpu/.swap.lock", "me"));
}

TEST_F(SwapsTest, who_gives_up_waiting_aborts) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  int asked = 0;
  const auto refused = begin_swap(coordinator.site(), {.recipe = "qwen",
                                                       .deadline_ns = 1000 * kSecond,
                                                       .is_given_up = [&] { return ++asked > 3; }});
  EXPECT_EQ(code(refused), ErrorCode::kUnavailable);
  EXPECT_TRUE(machine.signals().empty());
  EXPECT_FALSE(has_marker());
}

TEST_F(SwapsTest, abort_leaves_what_an_operator_asked) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  ASSERT_TRUE(request_preempt(other.site(), "train"));
  EXPECT_FALSE(coordinator.swap("qwen", kSecond));
  EXPECT_TRUE(*is_preempt_requested(job.site(), "train"));
}

TEST_F(SwapsTest, swap_that_was_asked_for_nothing_good_is_refused) {
  EXPECT_EQ(code(coordinator.swap("")), ErrorCode::kInvalid);
  EXPECT_TRUE(machine.names().empty());
}

// What is left of a coordinator that ended, or let go, in the middle.
struct OrphanTest : SwapsTest {
  void SetUp() override {
    ASSERT_TRUE(job.lease("train", "llama", true));
    coordinator.while_asleep = [&] { ASSERT_TRUE(*release_lease(job.site(), "train", {})); };
    auto swap = coordinator.swap("qwen", kSecond);
    ASSERT_TRUE(swap) << swap.error().to_string();
    held = std::make_unique<HeldSwap>(std::move(*swap));
  }
  void kill_coordinator() {
    coordinator.die();
    held.reset();
  }

  std::unique_ptr<HeldSwap> held;
};

TEST_F(OrphanTest, valid_marker_survives_any_number_of_readers) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(other.swapping(), "qwen");
  EXPECT_EQ(coordinator.swapping(), "qwen") << "its own too";
  EXPECT_EQ(machine.orphan_lines(), 0u);
  EXPECT_TRUE(held->finish(coordinator.site()));
}

TEST_F(OrphanTest, marker_is_judged_under_the_lock_only) {
  kill_coordinator();
  other.site().lock_timeout_ns = kSecond;
  {
    const auto session = Session::open(job.site());
    ASSERT_TRUE(session);
    EXPECT_EQ(code(list(other.site())), ErrorCode::kUnavailable);
    EXPECT_EQ(code(other.lease("next", "llama")), ErrorCode::kUnavailable);
    EXPECT_TRUE(has_marker());
    EXPECT_EQ(machine.orphan_lines(), 0u);
  }
  EXPECT_EQ(other.swapping(), "");
}

TEST_F(OrphanTest, dead_holder_is_cleared_by_a_reader_and_logged_once) {
  kill_coordinator();
  EXPECT_TRUE(has_marker());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.swapping(), "");
  EXPECT_FALSE(has_marker());
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_EQ(machine.lines_with("process 60 has ended"), 1u);
}

TEST_F(OrphanTest, dead_holder_is_cleared_by_a_registration) {
  kill_coordinator();
  const auto lease = other.lease("next", "llama");
  EXPECT_TRUE(lease) << lease.error().to_string();
  EXPECT_FALSE(has_marker());
  EXPECT_EQ(machine.orphan_lines(), 1u);
}

TEST_F(OrphanTest, dead_holder_is_cleared_by_the_next_swap) {
  kill_coordinator();
  auto swap = other.swap("llama");
  ASSERT_TRUE(swap) << swap.error().to_string();
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_TRUE(swap->finish(other.site()));
  EXPECT_EQ(machine.orphan_lines(), 1u);
}

TEST_F(OrphanTest, live_holder_without_the_lock_is_cleared) {
  held.reset();
  EXPECT_EQ(other.swapping(), "");
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_EQ(machine.lines_with("process 60 does not hold the swap lock"), 1u);
}

TEST_F(OrphanTest, lock_that_a_child_has_kept_does_not_keep_a_dead_holder_alive) {
  coordinator.die();  // the lock stays, as with a child that was forked
  EXPECT_EQ(other.swapping(), "");
  EXPECT_TRUE(other.lease("next", "llama"));
  EXPECT_EQ(machine.orphan_lines(), 1u);
  const auto refused = other.swap("llama");
  ASSERT_FALSE(refused);
  EXPECT_EQ(code(refused), ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message().find("child of a dead coordinator"), std::string::npos);
  held.reset();
  EXPECT_TRUE(other.swap("llama"));
}

TEST_F(OrphanTest, recycled_number_of_the_holder_does_not_keep_it_alive) {
  coordinator.die();
  const Actor recycled(machine, 60);
  EXPECT_EQ(other.swapping(), "") << "although somebody has the lock";
}

TEST_F(OrphanTest, start_of_the_machine_clears_it) {
  machine.boot_id = "boot-2";
  EXPECT_EQ(other.swapping(), "");
  EXPECT_EQ(machine.orphan_lines(), 1u);
}

TEST_F(OrphanTest, line_is_written_once_although_the_one_who_clears_dies_between) {
  kill_coordinator();
  // At every call that changes something after the line (write, sync), until one does it all.
  constexpr std::uint64_t kBehindTheLine = 2;
  for (std::uint64_t call = kBehindTheLine; has_marker(); ++call) {
    ASSERT_LT(call, 100u);
    machine.disk->fail_call(call, env::DiskFault::kIoError);
    const bool listed = list(other.site()).has_value();
    EXPECT_TRUE(call != kBehindTheLine || (!listed && has_marker())) << "the state was not written";
    EXPECT_EQ(machine.orphan_lines(), 1u);
  }
  EXPECT_EQ(machine.orphan_lines(), 1u);
}

TEST_F(OrphanTest, line_that_cannot_be_written_goes_to_a_new_log) {
  kill_coordinator();
  machine.disk->fail_call(0, env::DiskFault::kIoError);
  EXPECT_EQ(other.swapping(), "");
  EXPECT_FALSE(has_marker());
  EXPECT_EQ(machine.lines_with("\"log_set_aside\""), 1u);
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_NE(machine.file("swap_log.broken-1.jsonl").value_or("").find("swap_begun"),
            std::string::npos);
}

TEST_F(SwapsTest, clearing_an_orphan_withdraws_what_its_swap_asked) {
  ASSERT_TRUE(job.lease("train", "llama", true));
  coordinator.while_asleep = [&] {
    // It dies while it waits: its lock is gone with its file.
    coordinator.die();
    throw 0;
  };
  EXPECT_THROW(static_cast<void>(coordinator.swap("qwen", kSecond).has_value()), int);
  EXPECT_EQ(machine.signals().size(), 1u);
  EXPECT_FALSE(*is_preempt_requested(job.site(), "train")) << "nobody asks for it any more";
  EXPECT_TRUE(machine.signals().empty());
  EXPECT_EQ(other.swapping(), "");
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_EQ(job.live(), "train");
}

}  // namespace
}  // namespace holdfast::registry
