// SPDX-License-Identifier: Apache-2.0
// Runs in memory with threads: bodies beside each other, and events that race with the release of
// an idle run.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "adapters/testing_workflows.h"

namespace holdfast::adapters::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Duration kLong = seconds(240);

TEST(MemoryRunsThreads, no_event_is_lost_between_release_and_arrival) {
  constexpr std::uint64_t kSenders = 4;
  constexpr std::uint64_t kEach = 1'500;
  constexpr std::uint64_t kParts = 3;
  constexpr std::uint64_t kRuns = 3;
  // Everything that is idle leaves at once: every event finds a run that leaves, or has left.
  auto opened = MemoryRuns<Counter>::open(
      std::make_shared<Counter>(),
      {.threads = 3, .machine_clock = true, .release_after = Duration(0), .max_mail = 16});
  ASSERT_TRUE(opened);
  MemoryRuns<Counter>& runs = **opened;
  for (std::uint64_t id = 0; id < kRuns; ++id) ASSERT_TRUE(runs.post(Begin{id, kSenders * kEach}));
  runs.settle();
  std::atomic<std::uint64_t> refused = 0;
  const auto give_up = std::chrono::steady_clock::now() + kLong;
  const auto send = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n <= last; ++n) {
      for (std::uint64_t id = 0; id < kRuns; ++id) {
        while (true) {
          const auto posted = runs.post(Add{id, n});
          if (posted) break;
          ASSERT_EQ(posted.error().code, ErrorCode::kUnavailable);
          ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "nobody takes the mail";
          ++refused;
          std::this_thread::yield();
        }
      }
    }
  };
  for (std::uint64_t part = 0; part < kParts; ++part) {
    // While nobody sends anything, all of them leave.
    while (runs.figures().released != kRuns)
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "nobody leaves";
    std::vector<std::thread> senders;
    for (std::uint64_t sender = 0; sender < kSenders; ++sender)
      senders.emplace_back(send, part * kEach / kParts + 1, (part + 1) * kEach / kParts);
    for (std::thread& sender : senders) sender.join();
  }
  for (std::uint64_t id = 0; id < kRuns; ++id) {
    const auto ended = runs.wait(id, kLong);
    ASSERT_TRUE(ended) << ended.error().message;
    ASSERT_TRUE(ended->outcome->as<Sum>());
    EXPECT_EQ(ended->outcome->as<Sum>()->n, kSenders * kEach * (kEach + 1) / 2);
  }
}

TEST(MemoryRunsThreads, a_timer_that_races_with_events_fires_once) {
  auto opened = MemoryRuns<Patient>::open(std::make_shared<Patient>(),
                                          {.threads = 2, .release_after = hours(1)});
  ASSERT_TRUE(opened);
  MemoryRuns<Patient>& runs = **opened;
  constexpr std::uint64_t kRuns = 200;
  for (std::uint64_t id = 0; id < kRuns; ++id) ASSERT_TRUE(runs.post(Begin{id, 7}));
  runs.settle();
  ASSERT_TRUE(runs.advance(hours(10)));
  std::thread answers([&] {
    for (std::uint64_t id = 0; id < kRuns; id += 2) static_cast<void>(runs.post(Add{id, 9}));
  });
  ASSERT_TRUE(runs.advance(hours(24 * 31)));
  answers.join();
  for (std::uint64_t id = 0; id < kRuns; ++id) {
    const auto ended = runs.wait(id, kLong);
    ASSERT_TRUE(ended) << id;
    const std::uint64_t n = ended->outcome->as<Sum>()->n;
    EXPECT_TRUE(n == 7 || (n == 9 && id % 2 == 0)) << id;
  }
}

// Each of two bodies waits until the other one has begun.
struct Meeting : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Meeting@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  std::vector<Part> invite(const Begin&, StepContext&) { return {{1}, {2}}; }
  Piece meet(const Part& part, StepContext&) {
    std::unique_lock lock(mutex);
    ++there;
    changed.notify_all();
    changed.wait_for(lock, kLong, [this] { return there == 2; });
    return {part.n + there};
  }
  Sum add(const std::vector<Piece>& pieces, StepContext&) {
    return {pieces.at(0).n + pieces.at(1).n};
  }
  static auto steps() {
    return StepsOf<Meeting>()
        .step("invite", &Meeting::invite)
        .step("meet", &Meeting::meet)
        .step("add", &Meeting::add);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t there = 0;
};

TEST(MemoryRunsThreads, bodies_of_one_run_run_beside_each_other) {
  auto runs =
      MemoryRuns<Meeting>::open(std::make_shared<Meeting>(), {.threads = 2, .machine_clock = true});
  ASSERT_TRUE(runs);
  ASSERT_TRUE((*runs)->post(Begin{1, 0}));
  const auto ended = (*runs)->wait(1, kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->outcome->as<Sum>(), Sum{7});
}

// Sends to another run and cancels a third, out of its body.
struct Busybody : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Busybody@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;

  std::optional<Sum> begin(const Begin& begin, StepContext&) {
    if (begin.n == 0) return std::nullopt;
    const bool has_sent = static_cast<bool>(runs->send(Add{1, 5}));
    const bool has_cancelled = static_cast<bool>(runs->cancel(2, "enough"));
    EXPECT_TRUE(runs->advance(Duration(0)));
    return Sum{has_sent && has_cancelled ? 1U : 0U};
  }
  Sum add(const Add& add, StepContext&) { return {add.n}; }
  static auto steps() {
    return StepsOf<Busybody>().step("begin", &Busybody::begin).step("add", &Busybody::add);
  }

  MemoryRuns<Busybody>* runs = nullptr;
};

TEST(MemoryRunsThreads, bodies_and_whoever_is_told_of_an_end_may_send_and_cancel) {
  for (const std::size_t threads : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    std::atomic<std::uint64_t> ends = 0;
    std::atomic<std::uint64_t> cancelled = 0;
    auto host = std::make_shared<Busybody>();
    MemoryRuns<Busybody>* told = nullptr;
    auto runs = MemoryRuns<Busybody>::open(
        host, {.threads = threads, .ended = [&](const Bytes&, const StepOutcome& outcome) {
                 ++ends;
                 cancelled += outcome.error ? 1U : 0U;
                 if (!outcome.error) static_cast<void>(told->cancel(4, "enough"));
               }});
    ASSERT_TRUE(runs);
    told = host->runs = runs->get();
    ASSERT_TRUE((*runs)->send(Begin{1, 0}));
    ASSERT_TRUE((*runs)->send(Begin{2, 0}));
    ASSERT_TRUE((*runs)->send(Begin{4, 0}));
    ASSERT_TRUE((*runs)->send(Begin{3, 1}));
    EXPECT_EQ(ends, 4U) << threads;
    EXPECT_EQ(cancelled, 2U) << threads;
  }
}

// Waits until somebody opens it.
struct Gate : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Gate@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  Sum pass(const Begin& begin, StepContext&) {
    std::unique_lock lock(mutex);
    is_reached = true;
    changed.notify_all();
    changed.wait_for(lock, kLong, [this] { return is_open; });
    return {begin.n};
  }
  static auto steps() { return StepsOf<Gate>().step("pass", &Gate::pass); }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_reached = false;
  bool is_open = false;
};

TEST(MemoryRunsThreads, without_threads_what_another_thread_runs_is_waited_for) {
  auto host = std::make_shared<Gate>();
  auto runs = MemoryRuns<Gate>::open(host);
  ASSERT_TRUE(runs);
  std::thread sender([&] { EXPECT_TRUE((*runs)->send(Begin{1, 7})); });
  {
    std::unique_lock lock(host->mutex);
    EXPECT_TRUE(host->changed.wait_for(lock, kLong, [&] { return host->is_reached; }));
  }
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::lock_guard lock(host->mutex);
    host->is_open = true;
    host->changed.notify_all();
  });
  (*runs)->settle();
  EXPECT_TRUE((*runs)->find(1)->outcome);
  opener.join();
  sender.join();
}

// Takes longer than it may, until it is told. On a busy machine that may happen to those who do not
// mean to, too.
struct Slow : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Slow@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  Sum dawdle(const Begin&, StepContext& context) {
    if (context.attempt() > 1) return {context.attempt()};
    while (!context.stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {0};
  }
  static auto steps() {
    return StepsOf<Slow>().step("dawdle", &Slow::dawdle,
                                {.retry = Retry(fixed(Duration(0)), after_attempts(1000)),
                                 .timeout = std::chrono::milliseconds(200)});
  }
};

// Has no limit, and ends when it is told.
struct Endless : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Endless@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  Sum go_on(const Begin&, StepContext& context) {
    const auto give_up = std::chrono::steady_clock::now() + kLong;
    has_begun = true;
    while (!context.stopped() && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    was_told = context.stopped();
    return {0};
  }
  static auto steps() { return StepsOf<Endless>().step("go_on", &Endless::go_on); }

  std::atomic<bool> has_begun = false;
  std::atomic<bool> was_told = false;
};

TEST(MemoryRunsThreads, bodies_that_run_when_their_host_goes_are_told) {
  auto host = std::make_shared<Endless>();
  {
    auto runs = MemoryRuns<Endless>::open(host, {.threads = 2, .machine_clock = true});
    ASSERT_TRUE(runs);
    ASSERT_TRUE((*runs)->post(Begin{1, 0}));
    while (!host->has_begun) std::this_thread::yield();
  }
  EXPECT_TRUE(host->was_told);
}

// Also if no other thread is left that could tell it.
TEST(MemoryRunsThreads, a_body_that_takes_too_long_is_told_and_tried_again) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    auto runs = MemoryRuns<Slow>::open(std::make_shared<Slow>(),
                                       {.threads = threads, .machine_clock = true});
    ASSERT_TRUE(runs);
    ASSERT_TRUE((*runs)->post(Begin{1, 0}));
    const auto ended = (*runs)->wait(1, kLong);
    ASSERT_TRUE(ended);
    ASSERT_FALSE(ended->outcome->error) << ended->outcome->error->code;
    EXPECT_GE(ended->outcome->as<Sum>()->n, 2U);
  }
}

TEST(MemoryRunsThreads, a_clock_that_is_moved_ends_a_body_that_waits_for_it) {
  auto runs = MemoryRuns<Slow>::open(std::make_shared<Slow>(), {.threads = 1});
  ASSERT_TRUE(runs);
  ASSERT_TRUE((*runs)->send(Begin{1, 0}));
  EXPECT_FALSE((*runs)->find(1)->outcome);
  ASSERT_TRUE((*runs)->advance(hours(1)));
  const auto run = (*runs)->find(1);
  ASSERT_TRUE(run->outcome && !run->outcome->error);
  EXPECT_GE(run->outcome->as<Sum>()->n, 2U);
  EXPECT_EQ((*runs)->now(), Time(hours(1)));
}

// Takes a while, and less than it may.
struct Steady : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Steady@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  Sum work(const Begin&, StepContext& context) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (context.attempt() < 3) throw StepError("t.flaky", "not yet");
    return {context.attempt()};
  }
  static auto steps() {
    return StepsOf<Steady>().step(
        "work", &Steady::work,
        {.retry = Retry(fixed(hours(1)), after_attempts(3)), .timeout = seconds(30)});
  }
};

TEST(MemoryRunsThreads, a_clock_that_is_moved_leaves_a_body_the_time_that_it_has) {
  auto runs = MemoryRuns<Steady>::open(std::make_shared<Steady>(), {.threads = 2});
  ASSERT_TRUE(runs);
  ASSERT_TRUE((*runs)->post(Begin{1, 0}));
  ASSERT_TRUE((*runs)->advance(hours(10)));
  const auto run = (*runs)->find(1);
  ASSERT_TRUE(run->outcome);
  EXPECT_EQ(run->outcome->as<Sum>(), Sum{3});
}

TEST(MemoryRunsThreads, the_clock_of_the_machine_is_moved_by_nobody) {
  auto runs =
      MemoryRuns<Patient>::open(std::make_shared<Patient>(), {.threads = 1, .machine_clock = true});
  ASSERT_TRUE(runs);
  const auto refused = (*runs)->advance(hours(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(refused.error().message.starts_with("machine_clock")) << refused.error().message;
}

TEST(MemoryRunsThreads, whoever_waits_for_ever_waits) {
  auto runs = MemoryRuns<Patient>::open(std::make_shared<Patient>(),
                                        {.threads = 1, .begin = Time(hours(1'000))});
  ASSERT_TRUE(runs);
  ASSERT_TRUE((*runs)->send(Begin{1, 7}));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE((*runs)->advance(hours(24 * 40)));
  });
  const auto run = (*runs)->wait(1, Duration::max());
  later.join();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->outcome->as<Sum>(), Sum{7});
  ASSERT_TRUE((*runs)->send(Begin{2, 7}));
  EXPECT_EQ((*runs)->wait(2, Duration::min()).error().code, ErrorCode::kTimedOut);
}

TEST(MemoryRunsThreads, whoever_throws_when_told_of_an_end_hears_it_and_runs_go_on) {
  std::atomic<std::uint64_t> told = 0;
  MemoryOptions options{.threads = 2};
  options.ended = [&](const Bytes&, const StepOutcome&) {
    if (++told == 1) throw std::runtime_error("told");
  };
  auto runs = MemoryRuns<Squares>::open(std::make_shared<Squares>(), options);
  ASSERT_TRUE(runs);
  for (std::uint64_t id = 0; id < 50; ++id) ASSERT_TRUE((*runs)->post(Begin{id, 3}));
  EXPECT_THROW((*runs)->settle(), std::runtime_error);
  EXPECT_EQ(told, 50U);
  EXPECT_EQ((*runs)->figures().runs, 0U);
  EXPECT_TRUE((*runs)->send(Begin{1, 3}));
  EXPECT_EQ(told, 51U);
}

}  // namespace
}  // namespace holdfast::adapters::testing
