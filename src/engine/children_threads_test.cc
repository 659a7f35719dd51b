// SPDX-License-Identifier: Apache-2.0
// Workflows that run others, in an engine: people are asked, the engine ends in the middle, time
// passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::children_test {
namespace {

using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::uint64_t n = 0;
};
struct Plainly {
  static constexpr std::string_view kSchema = "test/Plainly@1";
  std::string id;
};
struct Ask {
  static constexpr std::string_view kSchema = "test/Ask@1";
  std::string review;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string review;
  std::uint64_t points = 0;
};
struct Verdict {
  static constexpr std::string_view kSchema = "test/Verdict@1";
  std::uint64_t points = 0;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Judged {
  static constexpr std::string_view kSchema = "test/Judged@1";
  std::uint64_t points = 0;
  std::string code;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

// Asks a person, for a week at most.
struct Review : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Review@1";
  using Events = holdfast::Events<On<Ask, &Ask::review>, On<Answer, &Answer::review>>;
  using Stop = Verdict;
  Verdict ask(const Ask&, StepContext& context) {
    const auto answer = context.wait_for<Answer>();
    if (answer.points == 0) throw StepError("review.refused", "not this one");
    return {answer.points};
  }
  static auto steps() {
    return StepsOf<Review>().step("ask", &Review::ask).timeout(std::chrono::hours(24 * 7));
  }
};

// Has every part reviewed, all at a time.
struct Order : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Order@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  using Children = holdfast::Children<Review>;

  std::vector<Part> split(const Begin& begin, StepContext&) {
    std::vector<Part> parts;
    for (std::uint64_t n = 1; n <= begin.n; ++n) parts.push_back({n});
    return parts;
  }
  Judged review(const Part& part, StepContext& context) {
    ++bodies;
    const std::string name = context.run_key<std::string>() + "-" + std::to_string(part.n);
    try {
      return {context.run<Review>(Ask{name}, {.timeout = patience}).points, ""};
    } catch (const ChildCancelled& cancelled) {
      return {0, "cancelled " + cancelled.code};
    } catch (const ChildFailed& failed) {
      return {0, failed.code};
    } catch (const WaitTimedOut& late) {
      return {0, late.code};
    }
  }
  End add(const std::vector<Judged>& all, StepContext&) {
    std::uint64_t points = 0;
    std::string codes;
    for (const Judged& judged : all) {
      points += judged.points;
      if (!judged.code.empty()) codes += " " + judged.code;
    }
    return {std::to_string(points) + codes};
  }
  static auto steps() {
    return StepsOf<Order>()
        .step("split", &Order::split)
        .step("review", &Order::review)
        .step("add", &Order::add);
  }
  std::optional<Duration> patience;
  std::atomic<std::uint64_t> bodies = 0;
};

// The same without steps: one review, and its points.
struct Plain {
  static constexpr std::string_view kWorkflow = "test/Plain@1";
  struct State {
    std::uint64_t points = 0;
  };
  using Result = Verdict;
  using Events = holdfast::Events<On<Plainly, &Plainly::id>>;
  using Children = holdfast::Children<Review>;
  using Context = holdfast::Context<Plain>;
  static void step(State&, const Plainly& begin, Context& context) {
    context.run<Review>(Ask{begin.id + "-plain"}, "review");
  }
  static void step(State& state, const Received<RunWorkflow>& ended, Context& context) {
    if (!ended.ok()) return context.fail(ended.error.code, ended.error.message);
    state.points = ended.receipt.as<Verdict>()->points;
    context.complete(Verdict{state.points});
  }
};

// A step that runs a workflow without steps, which runs one with steps.
struct Outer : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Outer@1";
  using Events = holdfast::Events<On<Part, &Part::n>>;
  using Stop = End;
  using Children = holdfast::Children<Plain>;
  End run(const Part&, StepContext& context) {
    return {std::to_string(context.run<Plain>(Plainly{"inner"}).points)};
  }
  static auto steps() { return StepsOf<Outer>().step("run", &Outer::run); }
};

// A coroutine that runs one.
struct Awaiting : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Awaiting@1";
  using Events = holdfast::Events<On<Plainly, &Plainly::id>>;
  using Stop = End;
  using Children = holdfast::Children<Review>;
  StepTask<End> run(const Plainly& begin, TaskContext& context) {
    const Ask ask{begin.id + "-awaited"};
    auto review = context.run<Review>(ask);
    const Verdict verdict = co_await review;
    co_return End{std::to_string(verdict.points)};
  }
  static auto steps() { return StepsOf<Awaiting>().step("run", &Awaiting::run); }
};

class ChildrenTest : public ::testing::Test {
 protected:
  void open(const std::shared_ptr<Order>& host) {
    engine_.reset();
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Order, Review, Plain, Outer, Awaiting>("test/code@1")};
    options.handlers = step_handlers(host);
    for (auto& more :
         {step_handlers(std::make_shared<Review>()), step_handlers(std::make_shared<Outer>()),
          step_handlers(std::make_shared<Awaiting>())})
      options.handlers.insert(options.handlers.end(), more.begin(), more.end());
    options.any_file_system = true;
    options.clock = clock_;
    auto opened = Engine::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void take_snapshot() {
    std::promise<bool> taken;
    engine_->take_snapshot([&](auto record) { taken.set_value(bool(record)); });
    EXPECT_TRUE(taken.get_future().get());
  }
  // Until the review asks its person.
  void wait_until_asked(const std::string& review) {
    for (std::uint64_t after = 0;;) {
      const auto page = engine_->follow<Review>(review, after, 100, 60s);
      ASSERT_TRUE(page) << page.error().message;
      for (const auto& entry : page->entries) {
        if (entry.value.kind == "idle") return;
      }
      ASSERT_FALSE(page->end);
      after = page->last;
    }
  }
  // Until all that the order waits for are so many reviews: what came of the others is recorded.
  void wait_until_reviews_are_left(std::size_t count) {
    while (true) {
      std::promise<std::vector<WaitReason>> told;
      engine_->why_raw(Order::kWorkflow, {0x61, 'a'}, [&](Result<std::vector<WaitReason>> reasons) {
        told.set_value(reasons ? *reasons : std::vector<WaitReason>());
      });
      const std::vector<WaitReason> reasons = told.get_future().get();
      const bool are_reviews = std::ranges::all_of(
          reasons, [](const WaitReason& each) { return each.child_workflow == Review::kWorkflow; });
      if (are_reviews && reasons.size() == count) return;
      std::this_thread::sleep_for(1ms);
    }
  }
  template <class W, class Key>
  std::string ended(const Key& key) {
    const auto instance = engine_->wait<W>(key, 60s);
    if (!instance) return instance.error().message;
    if (instance->error) return instance->error->code;
    if (instance->status == InstanceStatus::kCancelled) return "cancelled";
    const auto result = instance->template result_as<typename W::Stop>();
    return result ? result->text : "no result";
  }
  InstanceStatus status_of(const std::string& review) {
    const auto instance = engine_->wait<Review>(review, 60s);
    EXPECT_TRUE(instance);
    return instance ? instance->status : InstanceStatus::kRunning;
  }

  env::testing::TemporaryFolder folder_;
  std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ChildrenTest, people_answer_children_across_restarts) {
  auto host = std::make_shared<Order>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 3}));
  for (int n = 1; n <= 3; ++n) wait_until_asked("a-" + std::to_string(n));
  ASSERT_TRUE(engine_->send(Answer{"a-2", 20}));
  EXPECT_EQ(status_of("a-2"), InstanceStatus::kCompleted);
  wait_until_reviews_are_left(2);
  take_snapshot();
  open(host);
  ASSERT_TRUE(engine_->send(Answer{"a-1", 100}));
  EXPECT_EQ(status_of("a-1"), InstanceStatus::kCompleted);
  wait_until_reviews_are_left(1);
  host = std::make_shared<Order>();
  open(host);
  ASSERT_TRUE(engine_->send(Answer{"a-3", 0}));
  EXPECT_EQ(ended<Order>(std::string("a")), "120 review.refused");
  EXPECT_EQ(host->bodies, 1U) << "only what was not over runs again";
}

TEST_F(ChildrenTest, a_coroutine_awaits_a_child_across_a_restart) {
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Plainly{"c"}));
  wait_until_asked("c-awaited");
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Answer{"c-awaited", 7}));
  EXPECT_EQ(ended<Awaiting>(std::string("c")), "7");
}

TEST_F(ChildrenTest, a_child_has_a_timeout_of_its_own) {
  clock_ = std::make_shared<ManualClock>(Time(std::chrono::hours(24 * 365 * 50)));
  const auto host = std::make_shared<Order>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 2}));
  wait_until_asked("a-1");
  wait_until_asked("a-2");
  clock_->advance(std::chrono::hours(24 * 6));
  ASSERT_TRUE(engine_->send(Answer{"a-1", 5}));
  EXPECT_EQ(status_of("a-1"), InstanceStatus::kCompleted);
  open(host);
  clock_->advance(std::chrono::hours(24 * 2));
  EXPECT_EQ(ended<Order>(std::string("a")), "5 steps.timed_out");
  EXPECT_EQ(status_of("a-2"), InstanceStatus::kFailed);
}

TEST_F(ChildrenTest, a_wait_has_a_timeout_too_and_then_the_child_is_cancelled) {
  clock_ = std::make_shared<ManualClock>(Time(std::chrono::hours(24 * 365 * 50)));
  const auto host = std::make_shared<Order>();
  host->patience = std::chrono::hours(24);
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 1}));
  wait_until_asked("a-1");
  clock_->advance(std::chrono::hours(25));
  EXPECT_EQ(ended<Order>(std::string("a")), "0 step.wait_timed_out");
  EXPECT_EQ(status_of("a-1"), InstanceStatus::kCancelled);
}

TEST_F(ChildrenTest, children_are_cancelled_with_the_parent_and_a_child_alone) {
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Begin{"a", 3}));
  ASSERT_TRUE(engine_->send(Begin{"b", 1}));
  for (int n = 1; n <= 3; ++n) wait_until_asked("a-" + std::to_string(n));
  wait_until_asked("b-1");
  ASSERT_TRUE(engine_->cancel<Order>("a", "enough"));
  for (int n = 1; n <= 3; ++n)
    EXPECT_EQ(status_of("a-" + std::to_string(n)), InstanceStatus::kCancelled);
  ASSERT_TRUE(engine_->cancel<Review>("b-1", "enough"));
  EXPECT_EQ(ended<Order>(std::string("b")), "0 cancelled workflow.cancelled");
  std::promise<std::uint64_t> open;
  engine_->measure([&](Result<Measures> measured) {
    open.set_value(measured ? measured->open_effects : UINT64_MAX);
  });
  EXPECT_EQ(open.get_future().get(), 0U);
}

TEST_F(ChildrenTest, a_key_that_is_taken_is_an_error_of_the_child) {
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Ask{"a-1"}));
  wait_until_asked("a-1");
  ASSERT_TRUE(engine_->send(Begin{"a", 1}));
  EXPECT_EQ(ended<Order>(std::string("a")), "0 workflow.key_taken");
  EXPECT_EQ(engine_->query<Review>("a-1")->state.status, "idle") << "that one goes on";
}

TEST_F(ChildrenTest, workflows_without_steps_run_others_and_are_run) {
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Part{1}));
  wait_until_asked("inner-plain");
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Answer{"inner-plain", 42}));
  EXPECT_EQ(ended<Outer>(std::uint64_t{1}), "42");
  EXPECT_EQ(engine_->query<Plain>("inner")->state.points, 42U);
}

TEST_F(ChildrenTest, a_parent_says_for_whom_it_waits) {
  open(std::make_shared<Order>());
  ASSERT_TRUE(engine_->send(Begin{"a", 1}));
  wait_until_asked("a-1");
  std::promise<std::vector<WaitReason>> told;
  engine_->why_raw(Order::kWorkflow, {0x61, 'a'}, [&](Result<std::vector<WaitReason>> reasons) {
    told.set_value(reasons ? *reasons : std::vector<WaitReason>());
  });
  const std::vector<WaitReason> reasons = told.get_future().get();
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].child_workflow, Review::kWorkflow);
  EXPECT_EQ(reasons[0].child_key, (Bytes{0x63, 'a', '-', '1'}));
}

TEST_F(ChildrenTest, a_child_that_is_in_no_module_is_refused) {
  EngineOptions options;
  options.dir = folder_.path() + "/world";
  options.modules = {Module::of<Order>("test/code@1")};
  options.handlers = step_handlers(std::make_shared<Order>());
  options.any_file_system = true;
  const auto opened = Engine::open(std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "test/Order@1: its child 'test/Review@1' is in none of the modules");
}

}  // namespace
}  // namespace holdfast::children_test
