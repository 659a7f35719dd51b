// SPDX-License-Identifier: Apache-2.0
#include "holdfast/memory_runs.h"

#include <gtest/gtest.h>

#include <chrono>

#include "adapters/testing_workflows.h"

namespace holdfast::adapters::testing {
namespace {

using std::chrono::hours;

constexpr Duration kMonth = hours(24 * 30);

template <class W>
std::string ended(MemoryRuns<W>& runs, std::uint64_t key) {
  const auto run = runs.find(key);
  if (!run) return "none";
  if (!run->outcome) return run->is_released ? "released" : "open";
  if (run->outcome->error) return run->outcome->error->code;
  return std::to_string(run->outcome->template as<Sum>()->n);
}

std::vector<std::string> kinds(const std::vector<StepEntry>& entries) {
  std::vector<std::string> all;
  for (const StepEntry& entry : entries) all.push_back(entry.kind);
  return all;
}

TEST(MemoryRuns, a_fan_out_is_joined) {
  auto runs = open<Squares>();
  ASSERT_TRUE(runs->send(Begin{1, 10}));
  EXPECT_EQ(ended(*runs, 1), "385");
  const auto stream = runs->stream(1);
  EXPECT_EQ(stream.back().kind, "stopped");
  EXPECT_EQ(stream.back().as<Sum>(), Sum{385});
}

TEST(MemoryRuns, many_runs_are_under_way_and_each_has_its_own_end) {
  auto runs = open<Squares>();
  for (std::uint64_t id = 0; id < 500; ++id) ASSERT_TRUE(runs->post(Begin{id, id % 7}));
  EXPECT_EQ(ended(*runs, 3), "open");
  runs->settle();
  for (std::uint64_t id = 0; id < 500; ++id) {
    const std::uint64_t n = id % 7;
    EXPECT_EQ(ended(*runs, id), std::to_string(n * (n + 1) * (2 * n + 1) / 6));
  }
}

// Runs another one, and says how that went.
struct Parent : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Parent@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Told;
  using Children = holdfast::Children<Squares>;
  Told run(const Begin& begin, StepContext& context) {
    try {
      return {std::to_string(context.run<Squares>(begin).n)};
    } catch (const ChildFailed& failed) {
      return {failed.code};
    }
  }
  static auto steps() { return StepsOf<Parent>().step("run", &Parent::run); }
};

TEST(MemoryRuns, whoever_runs_another_workflow_hears_that_there_is_no_world_for_it) {
  auto runs = open<Parent>();
  ASSERT_TRUE(runs->send(Begin{1, 10}));
  const auto run = runs->find(1);
  ASSERT_TRUE(run && run->outcome && !run->outcome->error);
  EXPECT_EQ(run->outcome->as<Told>()->text, "workflow.no_world");
}

TEST(MemoryRuns, thirty_days_of_waiting_take_no_time) {
  auto runs = open<Patient>();
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t id = 0; id < 100; ++id) ASSERT_TRUE(runs->send(Begin{id, 7}));
  EXPECT_EQ(runs->next_timer(), Time(hours(1)));  // the first try again
  ASSERT_TRUE(runs->advance(hours(3)));
  EXPECT_EQ(runs->next_timer(), Time(hours(3) + kMonth));
  ASSERT_TRUE(runs->advance(kMonth - Duration(1)));
  EXPECT_EQ(ended(*runs, 5), "open");
  ASSERT_TRUE(runs->send(Add{5, 9}));  // just in time
  ASSERT_TRUE(runs->advance(Duration(1)));
  EXPECT_EQ(ended(*runs, 5), "9");
  EXPECT_EQ(ended(*runs, 6), "7");
  EXPECT_EQ(runs->now(), Time(hours(3) + kMonth));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::minutes(5));
}

struct Hopeless : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Hopeless@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;
  Sum fail(const Begin&, StepContext&) { throw StepError("t.never", "never"); }
  static auto steps() {
    return StepsOf<Hopeless>().step("fail", &Hopeless::fail,
                                    {.retry = Retry(fixed(hours(1)), after(hours(3)))});
  }
};

TEST(MemoryRuns, the_time_that_attempts_take_is_counted_from_the_beginning_of_the_clock_too) {
  auto runs = open<Hopeless>();
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  ASSERT_TRUE(runs->advance(hours(10)));
  EXPECT_EQ(ended(*runs, 1), "t.never");
  const StepEntry last = runs->stream(1).back();
  EXPECT_EQ(last.kind, "failed");
  EXPECT_EQ(last.attempts, 4U);
  EXPECT_EQ(Duration(last.elapsed_ns), hours(3));
}

TEST(MemoryRuns, an_idle_run_leaves_memory_and_is_back_with_the_next_event) {
  auto runs = open<Counter>({.release_after = hours(1)});
  ASSERT_TRUE(runs->send(Begin{1, 3}));
  ASSERT_TRUE(runs->send(Add{1, 10}));
  ASSERT_TRUE(runs->advance(hours(1) - Duration(1)));
  EXPECT_EQ(ended(*runs, 1), "open");
  ASSERT_TRUE(runs->advance(Duration(1)));
  EXPECT_EQ(ended(*runs, 1), "released");
  EXPECT_EQ(runs->figures().released, 1U);
  EXPECT_GT(runs->figures().released_bytes, 0U);
  EXPECT_LT(runs->figures().released_bytes, 200U);
  ASSERT_TRUE(runs->send(Add{1, 20}));
  EXPECT_EQ(ended(*runs, 1), "open");
  ASSERT_TRUE(runs->advance(hours(2)));
  EXPECT_EQ(ended(*runs, 1), "released");
  ASSERT_TRUE(runs->send(Add{1, 30}));
  EXPECT_EQ(ended(*runs, 1), "60");
}

TEST(MemoryRuns, a_released_run_wakes_for_its_timer) {
  auto runs = open<Patient>({.release_after = hours(1)});
  ASSERT_TRUE(runs->send(Begin{1, 7}));
  ASSERT_TRUE(runs->advance(hours(2)));
  EXPECT_EQ(ended(*runs, 1), "open");  // it has to try again, so it is not idle
  ASSERT_TRUE(runs->advance(hours(24)));
  EXPECT_EQ(ended(*runs, 1), "released");
  EXPECT_EQ(runs->next_timer(), Time(hours(3) + kMonth));
  ASSERT_TRUE(runs->advance(kMonth));
  EXPECT_EQ(ended(*runs, 1), "7");
}

TEST(MemoryRuns, what_one_run_holds_for_a_set_of_events_gets_into_no_other) {
  auto runs = open<Pair>({.release_after = hours(1)});
  ASSERT_TRUE(runs->send(Begin{1, 10}));
  ASSERT_TRUE(runs->advance(hours(1)));
  EXPECT_EQ(ended(*runs, 1), "released");
  ASSERT_TRUE(runs->send(Begin{2, 200'000}));  // with the loop that the first one has left
  ASSERT_TRUE(runs->send(Add{2, 2}));
  EXPECT_EQ(ended(*runs, 2), "200002");
  ASSERT_TRUE(runs->send(Add{1, 1}));
  EXPECT_EQ(ended(*runs, 1), "11");
}

TEST(MemoryRuns, a_run_whose_first_event_waits_for_another_is_released_and_back) {
  auto runs = open<Both>({.release_after = hours(1)});
  ASSERT_TRUE(runs->send(Begin{1, 10}));
  ASSERT_TRUE(runs->advance(hours(1)));
  EXPECT_EQ(ended(*runs, 1), "released");
  ASSERT_TRUE(runs->send(Add{1, 1}));
  EXPECT_EQ(ended(*runs, 1), "11");
}

TEST(MemoryRuns, a_full_mailbox_refuses_and_nothing_has_happened) {
  auto runs = open<Counter>({.max_mail = 3});
  ASSERT_TRUE(runs->post(Begin{1, 2}));
  ASSERT_TRUE(runs->post(Add{1, 1}));
  ASSERT_TRUE(runs->post(Add{1, 2}));
  const auto refused = runs->post(Add{1, 100});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(refused.error().message.starts_with("max_mail"));
  runs->settle();
  EXPECT_EQ(ended(*runs, 1), "3");
  EXPECT_EQ(runs->post(Add{1, 1}).error().code, ErrorCode::kConflict);
}

struct Dated {
  static constexpr std::string_view kSchema = "t/Dated@1";
  std::uint64_t id = 0;
  Time at{};
};
struct Calendar : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Calendar@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Dated, &Dated::id>>;
  using Stop = Sum;
  void begin(const Begin&, StepContext&) {}
  Sum look(const Dated&, StepContext&) { return {1}; }
  static auto steps() {
    return StepsOf<Calendar>().step("begin", &Calendar::begin).step("look", &Calendar::look);
  }
};

TEST(MemoryRuns, an_event_that_is_none_is_refused_and_the_run_goes_on) {
  auto runs = open<Calendar>();
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  const auto refused = runs->send(Dated{1, Time(-hours(1))});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ended(*runs, 1), "open");
  EXPECT_FALSE(runs->send(Dated{2, Time(-hours(1))}));
  EXPECT_EQ(runs->figures().runs, 1U);
  ASSERT_TRUE(runs->send(Dated{1, Time(hours(1))}));
  EXPECT_EQ(ended(*runs, 1), "1");
}

TEST(MemoryRuns, one_run_too_many_is_refused) {
  auto runs = open<Counter>({.max_runs = 2});
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  ASSERT_TRUE(runs->send(Begin{2, 1}));
  EXPECT_EQ(runs->send(Begin{3, 1}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(runs->forget(1).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(runs->send(Add{1, 1}));
  ASSERT_TRUE(runs->forget(1));
  EXPECT_TRUE(runs->send(Begin{3, 1}));
  EXPECT_EQ(ended(*runs, 1), "none");
}

TEST(MemoryRuns, an_event_that_begins_no_run_leaves_none) {
  auto runs = open<Counter>();
  ASSERT_TRUE(runs->send(Add{1, 1}));
  EXPECT_EQ(ended(*runs, 1), "none");
  EXPECT_EQ(runs->figures().runs, 0U);
}

TEST(MemoryRuns, a_run_is_cancelled) {
  auto runs = open<Counter>();
  ASSERT_TRUE(runs->send(Begin{1, 1}));
  ASSERT_TRUE(runs->cancel(1, "enough"));
  EXPECT_EQ(ended(*runs, 1), "steps.cancelled");
  EXPECT_EQ(kinds(runs->stream(1)).back(), "cancelled");
  EXPECT_EQ(runs->cancel(1, "enough").error().code, ErrorCode::kConflict);
  EXPECT_EQ(runs->cancel(2, "enough").error().code, ErrorCode::kNotFound);
}

TEST(MemoryRuns, of_a_stream_the_newest_entries_are_kept) {
  auto all = open<Squares>();
  auto some = open<Squares>({.max_entries = 3});
  auto none = open<Squares>({.max_entries = 0});
  ASSERT_TRUE(all->send(Begin{1, 5}));
  ASSERT_TRUE(some->send(Begin{1, 5}));
  ASSERT_TRUE(none->send(Begin{1, 5}));
  auto expected = kinds(all->stream(1));
  ASSERT_GT(expected.size(), 3U);
  expected.erase(expected.begin(), expected.end() - 3);
  EXPECT_EQ(kinds(some->stream(1)), expected);
  EXPECT_TRUE(none->stream(1).empty());
  EXPECT_EQ(ended(*none, 1), "55");
}

TEST(MemoryRuns, whoever_is_told_of_ends_is_told_once_and_the_run_is_forgotten) {
  std::vector<std::uint64_t> sums;
  auto runs = open<Squares>({.ended = [&](const Bytes&, const StepOutcome& outcome) {
    sums.push_back(outcome.as<Sum>()->n);
  }});
  for (std::uint64_t round = 0; round < 3; ++round) ASSERT_TRUE(runs->send(Begin{1, 2}));
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{5, 5, 5}));
  EXPECT_EQ(runs->figures().runs, 0U);
}

TEST(MemoryRuns, what_went_in_and_out_is_recorded_and_can_be_replayed) {
  auto runs = open<Patient>({.release_after = hours(1), .max_entries = 0, .record = true});
  ASSERT_TRUE(runs->send(Begin{1, 7}));
  ASSERT_TRUE(runs->advance(hours(24 * 40)));
  EXPECT_EQ(ended(*runs, 1), "7");
  auto recording = runs->recording(1);
  ASSERT_TRUE(recording);
  const auto program = StepProgram::of(std::make_shared<Patient>());
  ASSERT_TRUE(program);
  const auto same = replay(*program, *recording);
  EXPECT_TRUE(same) << same.error().message;
  recording->turns.back().entries.pop_back();
  EXPECT_EQ(replay(*program, *recording).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(runs->recording(2));
}

// The state is in proportion to what is live, whatever has gone through it.
TEST(MemoryRuns, a_long_run_does_not_grow) {
  auto runs = open<Counter>({.release_after = hours(1)});
  ASSERT_TRUE(runs->send(Begin{1, 1'000'000}));
  for (std::uint64_t n = 0; n < 20'000; ++n) ASSERT_TRUE(runs->send(Add{1, 1}));
  ASSERT_TRUE(runs->advance(hours(2)));
  EXPECT_LT(runs->figures().released_bytes, 200U);
}

struct Fill {
  static constexpr std::string_view kSchema = "t/Fill@1";
  std::uint64_t id = 0;
  std::uint64_t n = 0;
  std::string text;
};
struct Hoarder : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Hoarder@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Fill, &Fill::id>>;
  using Stop = Sum;
  void begin(const Begin&, StepContext&) {}
  std::optional<Sum> keep(const Fill& fill, StepContext& context) {
    context.set(std::to_string(fill.n), fill.text);
    return std::nullopt;
  }
  static auto steps() {
    return StepsOf<Hoarder>().step("begin", &Hoarder::begin).step("keep", &Hoarder::keep);
  }
};

// Keeps what comes in a slot, for another that never comes.
struct Holder : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Holder@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Fill, &Fill::id>, On<Add, &Add::id>>;
  using Stop = Sum;
  static void begin(const Begin&, StepContext&) {}
  static Sum both(const Fill&, const Add&, StepContext&) { return {}; }
  static auto steps() { return StepsOf<Holder>().step("begin", begin).step("both", both); }
};

// How many bytes came before the run ended.
template <class W>
std::size_t filled(MemoryRuns<W>& runs) {
  EXPECT_TRUE(runs.send(Begin{1, 1}));
  constexpr std::size_t kEach = std::size_t{60} << 10;
  std::size_t kept = 0;
  while (kept < 100 && ended(runs, 1) == "open") {
    EXPECT_TRUE(runs.send(Fill{1, kept, std::string(kEach, 'x')}));
    ++kept;
  }
  return kept * kEach;
}

TEST(MemoryRuns, a_run_that_keeps_more_than_a_world_would_keep_ends) {
  auto runs = open<Holder>();
  const std::size_t bytes = filled(*runs);
  EXPECT_EQ(ended(*runs, 1), "steps.state_too_large");
  EXPECT_GT(bytes, std::size_t{700} << 10);
  EXPECT_LT(bytes, std::size_t{1000} << 10);
}

// What a step may see goes to it beside the state: a world has no room for both.
TEST(MemoryRuns, a_run_whose_steps_would_see_more_than_a_world_could_show_them_ends) {
  auto runs = open<Hoarder>();
  const std::size_t bytes = filled(*runs);
  EXPECT_EQ(ended(*runs, 1), "steps.too_large_to_run");
  EXPECT_GT(bytes, std::size_t{400} << 10);
  EXPECT_LT(bytes, std::size_t{600} << 10);
  EXPECT_EQ(runs->stream(1).back().message,
            "there is no room to give step 'keep' what it needs to see");
}

TEST(MemoryRuns, the_machines_clock_needs_a_thread) {
  const auto refused =
      MemoryRuns<Counter>::open(std::make_shared<Counter>(), {.machine_clock = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace holdfast::adapters::testing
