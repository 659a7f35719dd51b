// SPDX-License-Identifier: Apache-2.0
// An engine whose clock a test moves: timers, and time limits of handlers.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast::clock_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string name;
};

// A timer every hour, for a day.
struct Day {
  static constexpr std::string_view kWorkflow = "test/Day@1";
  struct State {
    std::uint64_t hours = 0;
  };
  using Events = holdfast::Events<On<Begin, &Begin::name>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<Day>;

  static void step(State&, const Begin&, Context& context) {
    context.timer(context.now() + hours(1));
  }
  static void step(State& state, const Received<Timer>&, Context& context) {
    if (++state.hours == 24) return context.complete(state.hours);
    context.timer(context.now() + hours(1));
  }
};

struct Dig {
  static constexpr std::string_view kEffect = "test/dig@1";
  static constexpr Executor kExecutor = worker("spades");
  static constexpr Duration kTimeout = hours(1);
  struct Params {
    std::string name;
  };
  struct Receipt {
    std::uint64_t metres = 0;
  };
};

struct Digging {
  static constexpr std::string_view kWorkflow = "test/Digging@1";
  struct State {
    std::string end;
  };
  using Events = holdfast::Events<On<Begin, &Begin::name>>;
  using Effects = holdfast::Effects<Dig>;
  using Context = holdfast::Context<Digging>;

  static void step(State&, const Begin& begin, Context& context) {
    context.open<Dig>({begin.name});
  }
  static void step(State& state, const Received<Dig>& dug, Context& context) {
    if (dug.ok()) return context.complete(dug.receipt.metres);
    state.end = dug.status == Status::kTimeout ? "timeout" : "error";
    context.fail(dug.error.code, dug.error.message);
  }
};

class ClockTest : public ::testing::Test {
 protected:
  template <class Workflow>
  void open() {
    engine_.reset();
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Workflow>("test/code@1")};
    if constexpr (std::is_same_v<Workflow, Digging>) options.handlers = {dig()};
    options.any_file_system = true;
    options.clock = clock_;
    auto opened = Engine::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  Handler dig() {
    return handle<Dig>([this](const Dig::Params&, const Call& call) -> Performed<Dig> {
      ++begun_;
      while (!call.stopped() && !may_end_) std::this_thread::sleep_for(milliseconds(1));
      ++ended_;
      return Dig::Receipt{7};
    });
  }
  void wait_until(const std::atomic<int>& count, int wanted) {
    while (count < wanted) std::this_thread::sleep_for(milliseconds(1));
  }
  // What the digging has come to, which must not be over if nobody says so.
  std::string end_of(const char* name, milliseconds within = seconds(60)) {
    const auto ended = engine_->wait<Digging>(name, within);
    if (!ended) return ended.error().message;
    return ended->error ? ended->state.end + " " + ended->error->code : "completed";
  }

  // How far the world's time is ahead of the wall clock, after looking at both.
  Duration ahead() {
    std::promise<std::int64_t> told;
    engine_->measure(
        [&](const Result<Measures>& seen) { told.set_value(seen ? seen->clock_ahead_ns : -1); });
    return Duration(told.get_future().get());
  }

  env::testing::TemporaryFolder folder_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(Time(hours(490'000)));
  std::atomic<int> begun_ = 0;
  std::atomic<int> ended_ = 0;
  std::atomic<bool> may_end_ = false;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ClockTest, a_day_of_timers_takes_no_time) {
  open<Day>();
  constexpr int kInstances = 20;
  for (int i = 0; i < kInstances; ++i) ASSERT_TRUE(engine_->send(Begin{std::to_string(i)}));
  const auto hours_of = [&](int i) {
    const auto day = engine_->query<Day>(std::to_string(i));
    return day ? day->state.hours : 0;
  };
  for (std::uint64_t hour = 1; hour <= 24; ++hour) {
    clock_->advance(hours(1) - Duration(1));
    for (int i = 0; i < kInstances; ++i) ASSERT_EQ(hours_of(i), hour - 1) << "never early";
    clock_->advance(Duration(1));
    for (int i = 0; i < kInstances; ++i)
      while (hours_of(i) != hour) std::this_thread::yield();
  }
  for (int i = 0; i < kInstances; ++i)
    EXPECT_EQ(engine_->wait<Day>(std::to_string(i), seconds(60))->status,
              InstanceStatus::kCompleted);
}

TEST_F(ClockTest, timers_ring_when_the_wall_clock_was_set_ahead_and_stays_there) {
  open<Day>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  clock_->set_wall(Time(hours(491'000)));
  EXPECT_EQ(ahead(), -hours(1'000)) << "it may be a mistake";
  clock_->advance(minutes(4));
  EXPECT_EQ(engine_->query<Day>("a")->state.hours, 0u);
  clock_->advance(minutes(1));
  while (engine_->query<Day>("a")->state.hours != 1) std::this_thread::yield();
  EXPECT_EQ(ahead(), hours(0));
  clock_->set_wall(Time(hours(490'990)));  // and back: time goes on, an eighth slower
  EXPECT_GT(ahead(), hours(9));
  clock_->advance(minutes(5));
  EXPECT_GT(ahead(), hours(9));
  clock_->advance(minutes(75));
  while (engine_->query<Day>("a")->state.hours != 2) std::this_thread::yield();
  EXPECT_LT(ahead(), hours(10) + minutes(5) - minutes(9));
}

TEST_F(ClockTest, one_wrong_reading_of_the_wall_clock_rings_nothing) {
  open<Day>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  clock_->set_wall(Time(hours(490'000 + 8 * 24)));
  EXPECT_EQ(ahead(), -hours(8 * 24));
  clock_->advance(minutes(1));
  clock_->set_wall(Time(hours(490'000) + minutes(1)));
  EXPECT_EQ(ahead(), hours(0));
  clock_->advance(minutes(58));
  EXPECT_EQ(ahead(), hours(0));
  EXPECT_EQ(engine_->query<Day>("a")->state.hours, 0u);
  clock_->advance(minutes(1));
  while (engine_->query<Day>("a")->state.hours != 1) std::this_thread::yield();
}

TEST_F(ClockTest, what_passed_while_no_engine_was_there_is_seen_at_the_next_start) {
  open<Day>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  engine_.reset();
  clock_->advance(hours(30));
  open<Day>();
  while (engine_->query<Day>("a")->state.hours != 1) std::this_thread::yield();
}

TEST_F(ClockTest, a_handler_beyond_its_time_limit_is_told_to_stop_and_its_result_is_ignored) {
  open<Digging>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  wait_until(begun_, 1);
  clock_->advance(minutes(59));
  EXPECT_EQ(end_of("a", milliseconds(50)), "it has not ended in time");
  clock_->advance(minutes(1));
  EXPECT_EQ(end_of("a"), "timeout effect.timeout");
  wait_until(ended_, 1);
  const std::uint64_t records = engine_->figures().records;
  ASSERT_TRUE(engine_->query<Digging>("a"));
  EXPECT_EQ(engine_->figures().records, records);
  EXPECT_EQ(engine_->query<Digging>("a")->error->code, "effect.timeout");
}

TEST_F(ClockTest, a_handler_that_waits_for_a_thread_has_no_longer_for_it) {
  open<Digging>();
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(engine_->send(Begin{name}));
  wait_until(begun_, 4);  // of four threads
  clock_->advance(hours(1));
  for (const char* name : {"a", "b", "c", "d", "e"})
    EXPECT_EQ(end_of(name), "timeout effect.timeout") << name;
  wait_until(ended_, 4);
  EXPECT_EQ(begun_, 4) << "what was late before it began does not begin";
}

TEST_F(ClockTest, a_restart_does_not_lengthen_the_time_limit_of_a_handler) {
  open<Digging>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  wait_until(begun_, 1);
  clock_->advance(minutes(40));
  open<Digging>();
  wait_until(begun_, 2);
  clock_->advance(minutes(19));
  EXPECT_EQ(end_of("a", milliseconds(50)), "it has not ended in time");
  clock_->advance(minutes(1));
  EXPECT_EQ(end_of("a"), "timeout effect.timeout");
}

TEST_F(ClockTest, a_handler_whose_time_was_over_before_the_restart_is_not_begun_again) {
  open<Digging>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  wait_until(begun_, 1);
  engine_.reset();
  clock_->advance(minutes(61));
  open<Digging>();
  EXPECT_EQ(end_of("a"), "timeout effect.timeout");
  EXPECT_EQ(begun_, 1);
}

TEST_F(ClockTest, a_handler_that_ends_in_time_is_not_touched_by_its_limit) {
  open<Digging>();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  wait_until(begun_, 1);
  may_end_ = true;
  EXPECT_EQ(end_of("a"), "completed");
  clock_->advance(hours(10));
  EXPECT_EQ(end_of("a"), "completed");
}

TEST(ManualClock, an_alarm_rings_once_when_either_time_has_come_and_never_after_it_is_gone) {
  ManualClock clock;
  int rings = 0;
  auto alarm = clock.alarm([&] { ++rings; });
  ASSERT_TRUE(alarm->set(100, 50));
  clock.advance(Duration(49));
  EXPECT_EQ(rings, 0);
  clock.advance(Duration(1));
  EXPECT_EQ(rings, 1);
  clock.advance(Duration(1000));
  EXPECT_EQ(rings, 1);
  EXPECT_FALSE(alarm->set(5, 5000)) << "the wall clock is beyond it";
  ASSERT_TRUE(alarm->set(5000, 50'000));
  clock.set_wall(Time(Duration(5000)));
  EXPECT_EQ(rings, 2);
  ASSERT_TRUE(alarm->set(6000, 50'000));
  alarm.reset();
  clock.advance(Duration(100'000));
  EXPECT_EQ(rings, 2);
}

}  // namespace
}  // namespace holdfast::clock_test
