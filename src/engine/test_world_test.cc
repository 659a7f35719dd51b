// SPDX-License-Identifier: Apache-2.0
// A workflow tested as its author would.
#include <gtest/gtest.h>

#include "holdfast/steps.h"
#include "holdfast/testing.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

struct Ask {
  static constexpr std::string_view kSchema = "test/Ask@1";
  std::string id;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string id;
  std::uint64_t n = 0;
};
struct Ready {
  static constexpr std::string_view kSchema = "test/Ready@1";
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::uint64_t n = 0;
};

struct Patient : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Patient@1";
  using Events = holdfast::Events<On<Ask, &Ask::id>, On<Answer, &Answer::id>>;
  using Stop = End;

  Ready prepare(const Ask&, StepContext& context) {
    if (context.attempt() < 3) throw StepError("not.yet", "later");
    return {};
  }
  End wait(const Ready&, StepContext& context) {
    try {
      return {context.wait_for<Answer>({.timeout = 720h}).n};
    } catch (const WaitTimedOut&) {
      return {0};
    }
  }
  static auto steps() {
    return StepsOf<Patient>()
        .step("prepare", &Patient::prepare, {.retry = Retry(fixed(1h), after_attempts(5))})
        .step("wait", &Patient::wait);
  }
};

// Waits twice under one name.
struct Twice : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Twice@1";
  using Events = holdfast::Events<On<Ask, &Ask::id>, On<Answer, &Answer::id>>;
  using Stop = End;

  End wait(const Ask&, StepContext& context) {
    const auto first = context.wait_for<Answer>({.id = "answer"});
    const auto second = context.wait_for<Answer>({.id = "answer"});
    return {first.n * 10 + second.n};
  }
  static auto steps() { return StepsOf<Twice>().step("wait", &Twice::wait); }
};

// Not of steps: it waits by a timer of its own.
struct Sleeper {
  static constexpr std::string_view kWorkflow = "test/Sleeper@1";
  struct State {
    std::uint64_t woken = 0;
  };
  using Events = holdfast::Events<On<Ask, &Ask::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<Sleeper>;
  static void step(State&, const Ask&, Context& context) { context.timer(context.now() + 24h); }
  static void step(State& state, const Received<Timer>&, Context& context) {
    if (++state.woken == 3) return context.complete(state.woken);
    context.timer(context.now() + 24h);
  }
};

// Has a patient one for each of its two halves, and waits for both.
struct Half {
  static constexpr std::string_view kSchema = "test/Half@1";
  std::uint64_t n = 0;
};
struct Go {
  static constexpr std::string_view kSchema = "test/Go@1";
  std::string id;
};
struct Sum {
  static constexpr std::string_view kSchema = "test/Sum@1";
  std::uint64_t n = 0;
};
struct Both : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Both@1";
  using Events = holdfast::Events<On<Go, &Go::id>>;
  using Stop = Sum;
  using Children = holdfast::Children<Patient>;

  std::vector<Half> split(const Go&, StepContext&) { return {{1}, {2}}; }
  End run(const Half& half, StepContext& context) {
    return context.run<Patient>(Ask{context.run_key<std::string>() + std::to_string(half.n)});
  }
  Sum add(const std::vector<End>& ends, StepContext&) {
    Sum sum;
    for (const End& end : ends) sum.n += end.n;
    return sum;
  }
  static auto steps() {
    return StepsOf<Both>()
        .step("split", &Both::split)
        .step("run", &Both::run)
        .step("add", &Both::add);
  }
};

struct Work {
  static constexpr std::string_view kEffect = "test/work@1";
  static constexpr Executor kExecutor = worker("work");
  struct Params {};
  struct Receipt {};
};
struct Worker {
  static constexpr std::string_view kWorkflow = "test/Worker@1";
  struct State {};
  using Events = holdfast::Events<On<Ask, &Ask::id>>;
  using Effects = holdfast::Effects<Work>;
  using Context = holdfast::Context<Worker>;
  static void step(State&, const Ask&, Context& context) { context.open<Work>({}); }
  static void step(State&, const Received<Work>& done, Context& context) {
    if (done.ok()) return context.complete(true);
    context.fail(done.error.code, done.error.message);
  }
};

std::unique_ptr<testing::World> patient() {
  auto world = testing::World::open({Module::of<Patient>("test/code@1")},
                                    step_handlers(std::make_shared<Patient>()));
  EXPECT_TRUE(world) << world.error().message;
  return world ? std::move(*world) : nullptr;
}

TEST(TestWorld, retries_and_answers_come_at_their_times) {
  const auto world = patient();
  ASSERT_TRUE(world->send(Ask{"a"}));
  EXPECT_EQ(world->next_timer(), world->now() + 1h);
  world->advance(90min);
  EXPECT_EQ(world->query<Patient>("a")->state.status, "running");
  world->advance(30min);
  EXPECT_EQ(world->query<Patient>("a")->state.status, "idle");
  world->advance(719h);
  ASSERT_TRUE(world->send(Answer{"a", 7}));
  const auto ended = world->query<Patient>("a");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->result_as<End>()->n, 7U);
  EXPECT_EQ(world->stream<Patient>("a").back().kind, "stopped");
  EXPECT_EQ(world->next_timer(), std::nullopt);
}

TEST(TestWorld, a_month_takes_no_time) {
  const auto world = patient();
  ASSERT_TRUE(world->send(Ask{"a"}));
  world->advance(2h);
  world->advance(720h - 1ns);
  EXPECT_FALSE(world->query<Patient>("a")->has_ended());
  world->advance(1ns);
  EXPECT_EQ(world->query<Patient>("a")->result_as<End>()->n, 0U);
}

TEST(TestWorld, two_waits_of_one_name_are_two_waits) {
  auto world = testing::World::open({Module::of<Twice>("test/code@1")},
                                    step_handlers(std::make_shared<Twice>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Ask{"a"}));
  ASSERT_TRUE((*world)->send(Answer{"a", 4}));
  EXPECT_FALSE((*world)->query<Twice>("a")->has_ended());
  ASSERT_TRUE((*world)->send(Answer{"a", 5}));
  EXPECT_EQ((*world)->query<Twice>("a")->result_as<End>()->n, 45U);
}

TEST(TestWorld, is_the_same_each_time) {
  const auto run = [] {
    const auto world = patient();
    EXPECT_TRUE(world->send(Ask{"a"}));
    world->advance(24h * 40);
    return std::pair(world->records(), world->stream<Patient>("a").size());
  };
  EXPECT_EQ(run(), run());
}

TEST(TestWorld, children_run_and_end_with_their_parent) {
  std::vector<Handler> handlers = step_handlers(std::make_shared<Both>());
  for (Handler& handler : step_handlers(std::make_shared<Patient>()))
    handlers.push_back(std::move(handler));
  auto opened = testing::World::open({Module::of<Both, Patient>("test/code@1")}, handlers);
  ASSERT_TRUE(opened) << opened.error().message;
  testing::World& world = **opened;
  ASSERT_TRUE(world.send(Go{"a"}));
  world.advance(2h);
  ASSERT_TRUE(world.send(Answer{"a1", 7}));
  EXPECT_EQ(world.query<Patient>("a1")->result_as<End>()->n, 7U);
  EXPECT_FALSE(world.query<Both>("a")->has_ended());
  ASSERT_TRUE(world.send(Answer{"a2", 3}));
  EXPECT_EQ(world.query<Both>("a")->result_as<Sum>()->n, 10U);

  ASSERT_TRUE(world.send(Go{"b"}));
  ASSERT_TRUE(world.cancel<Both>("b", "enough"));
  EXPECT_EQ(world.query<Patient>("b1")->status, InstanceStatus::kCancelled);
  EXPECT_EQ(world.query<Patient>("b2")->status, InstanceStatus::kCancelled);
  EXPECT_EQ(world.next_timer(), std::nullopt);
}

TEST(TestWorld, runs_workflows_of_all_kinds) {
  auto world = testing::World::open({Module::of<Sleeper>("test/code@1")}, {});
  ASSERT_TRUE(world);
  ASSERT_TRUE((*world)->send(Ask{"a"}));
  (*world)->advance(71h);
  EXPECT_EQ((*world)->query<Sleeper>("a")->state.woken, 2U);
  (*world)->advance(1h);
  EXPECT_EQ((*world)->query<Sleeper>("a")->status, InstanceStatus::kCompleted);
}

TEST(TestWorld, what_a_handler_throws_is_an_error_of_the_effect) {
  auto world =
      testing::World::open({Module::of<Worker>("test/code@1")},
                           {handle<Work>([](const Work::Params&, const Call&) -> Performed<Work> {
                             throw std::runtime_error("oops");
                           })});
  ASSERT_TRUE(world);
  ASSERT_TRUE((*world)->send(Ask{"a"}));
  const auto ended = (*world)->query<Worker>("a");
  ASSERT_TRUE(ended && ended->error);
  EXPECT_EQ(ended->error->code, "handler.exception");
  EXPECT_EQ(ended->error->message, "oops");
}

TEST(TestWorld, an_effect_without_handler_is_refused) {
  const auto world = testing::World::open({Module::of<Worker>("test/code@1")}, {});
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().message, "test/work@1: the effect has no handler");
}

TEST(TestWorld, an_instance_can_be_cancelled) {
  const auto world = patient();
  ASSERT_TRUE(world->send(Ask{"a"}));
  ASSERT_TRUE(world->cancel<Patient>("a", "enough"));
  EXPECT_EQ(world->query<Patient>("a")->status, InstanceStatus::kCancelled);
  EXPECT_EQ(world->next_timer(), std::nullopt);
  EXPECT_FALSE(world->query<Patient>("b"));
}

TEST(TestWorld, an_instance_can_be_started_once_and_paused_and_resumed) {
  const auto world = patient();
  ASSERT_TRUE(world->start<Patient>("a", Ask{"a"}));
  EXPECT_FALSE(world->start<Patient>("a", Ask{"a"}));
  ASSERT_TRUE(world->pause<Patient>("a"));
  EXPECT_TRUE(world->query<Patient>("a")->is_paused);
  ASSERT_TRUE(world->resume<Patient>("a"));
  EXPECT_FALSE(world->query<Patient>("a")->is_paused);
  EXPECT_FALSE(world->pause<Patient>("b"));
}

}  // namespace
}  // namespace holdfast
