// SPDX-License-Identifier: Apache-2.0
// Runs in memory: what whoever holds them may do wrong, and what is theirs alone.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "adapters/testing_workflows.h"

namespace holdfast::adapters::testing {
namespace {

using std::chrono::seconds;

template <class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TEST(MemoryRunsMisuse, whoever_throws_when_told_of_an_end_hears_it_once_and_runs_go_on) {
  std::uint64_t told = 0;
  auto runs = open<Squares>({.ended = [&](const Bytes&, const StepOutcome&) {
    ++told;
    throw std::runtime_error("end " + std::to_string(told));
  }});
  // The first of those that came of one call.
  ASSERT_TRUE(runs->post(Begin{1, 2}));
  ASSERT_TRUE(runs->post(Begin{2, 2}));
  EXPECT_EQ(thrown([&] { runs->settle(); }), "end 1");
  EXPECT_EQ(told, 2U);
  EXPECT_EQ(runs->figures().runs, 0U);
  EXPECT_EQ(thrown([&] { runs->settle(); }), "nothing");
  EXPECT_EQ(thrown([&] { EXPECT_TRUE(runs->send(Begin{1, 2})); }), "end 3");
  ASSERT_TRUE(runs->post(Begin{1, 2}));
  EXPECT_EQ(thrown([&] { EXPECT_TRUE(runs->advance(seconds(5))); }), "end 4");
  EXPECT_EQ(runs->now(), Time(seconds(5)));
  EXPECT_EQ(runs->figures().runs, 0U);
}

// Waits again and again.
struct Restless : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Restless@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;
  Sum wait(const Begin&, StepContext& context) {
    while (true) {
      try {
        return {context.wait_for<Add>({.timeout = seconds(50)}).n};
      } catch (const WaitTimedOut&) {
      }
    }
  }
  static auto steps() { return StepsOf<Restless>().step("wait", &Restless::wait); }
};

TEST(MemoryRunsMisuse, a_run_that_a_timer_has_woken_is_idle_from_then_on) {
  auto runs = open<Restless>({.release_after = seconds(40)});
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  ASSERT_TRUE(runs->advance(seconds(39)));
  EXPECT_FALSE(runs->find(1)->is_released);
  ASSERT_TRUE(runs->advance(seconds(1)));
  EXPECT_TRUE(runs->find(1)->is_released);
  ASSERT_TRUE(runs->advance(seconds(49)));  // it was woken at 50, and is idle for 39
  EXPECT_FALSE(runs->find(1)->is_released);
  ASSERT_TRUE(runs->advance(seconds(1)));
  EXPECT_TRUE(runs->find(1)->is_released);

  auto patient = open<Restless>({.release_after = seconds(60)});
  ASSERT_TRUE(patient->send(Begin{1, 1}));
  for (int second = 1; second <= 200; ++second) {
    ASSERT_TRUE(patient->advance(seconds(1)));
    EXPECT_FALSE(patient->find(1)->is_released) << second;  // never idle for longer than 50
  }
}

struct Named : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Named@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Told;
  Told tell(const Begin&, StepContext& context) { return {context.key}; }
  static auto steps() { return StepsOf<Named>().step("tell", &Named::tell); }
};

TEST(MemoryRunsMisuse, no_two_runs_have_the_same_keys_for_what_they_do_outside) {
  auto runs = open<Named>();
  std::set<std::string> seen;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(runs->send(Begin{id, 1}));
      seen.insert(runs->find(id)->outcome->as<Told>()->text);
      ASSERT_TRUE(runs->forget(id));
    }
  }
  EXPECT_EQ(seen.size(), 9U);
}

struct Greeting {
  std::string text;
};
struct Greeter : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Greeter@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Told;
  Told greet(const Begin&, StepContext& context) { return {context.resource<Greeting>().text}; }
  static auto steps() { return StepsOf<Greeter>().step("greet", &Greeter::greet); }
};

TEST(MemoryRunsMisuse, bodies_get_the_resources_that_the_runs_were_given) {
  auto resources = std::make_shared<Resources>();
  resources->add<Greeting>("greeting", [] { return Greeting{"hello"}; });
  auto runs = open<Greeter>({.resources = resources});
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  ASSERT_FALSE(runs->find(1)->outcome->error);
  EXPECT_EQ(runs->find(1)->outcome->as<Told>()->text, "hello");
  auto without = open<Greeter>();
  ASSERT_TRUE(without->send(Begin{1, 1}));
  EXPECT_EQ(without->find(1)->outcome->error->code, "step.no_resource");
}

TEST(MemoryRunsMisuse, a_clock_is_moved_to_the_end_of_time_at_most) {
  auto runs = open<Patient>({.begin = Time(seconds(1'000'000'000))});
  ASSERT_TRUE(runs->send(Begin{1, 7}));
  ASSERT_TRUE(runs->advance(Duration::max()));
  EXPECT_EQ(runs->now(), Time::max());
  EXPECT_EQ(runs->find(1)->outcome->as<Sum>(), Sum{7});
}

}  // namespace
}  // namespace holdfast::adapters::testing
