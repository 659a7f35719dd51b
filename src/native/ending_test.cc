// SPDX-License-Identifier: Apache-2.0
// Steps that end their instance, and what they ask for before and after.
#include <gtest/gtest.h>

#include "native/testing.h"

namespace holdfast::native::ending_test {
namespace {

using kernel::testing::json_of;
using kernel::testing::opened;

struct Told {
  static constexpr std::string_view kSchema = "test/Told@1";
  std::string id;
  std::vector<std::string> words;  // what to do, in this order
};
struct Said {
  static constexpr std::string_view kSchema = "test/Said@1";
};

struct Call {
  static constexpr std::string_view kEffect = "test/call@1";
  static constexpr Executor kExecutor = worker("calls");
  struct Params {};
  struct Receipt {};
};

struct Send {
  static constexpr std::string_view kEffect = "test/send@1";
  static constexpr Executor kExecutor = worker("sends");
  struct Params {
    std::string text;
  };
  struct Receipt {};
};

// Does as it is told.
struct Servant {
  static constexpr std::string_view kWorkflow = "test/Servant@1";
  struct State {
    std::uint64_t words = 0;
  };
  using Events = holdfast::Events<On<Told, &Told::id>>;
  using Effects = holdfast::Effects<Call, Send, Timer>;
  using Emits = holdfast::Emits<Said>;
  using Context = holdfast::Context<Servant>;

  static void step(State& state, const Told& told, Context& context) {
    for (const std::string& word : told.words) {
      ++state.words;
      if (word == "open") context.open<Call>({});
      if (word == "much") context.open<Send>({std::string(700'000, 'x')});
      if (word == "timer") context.timer(context.now());
      if (word == "emit") context.emit(Said());
      if (word == "complete") context.complete(state.words);
      if (word == "fail") context.fail("told.so", word);
      if (word == "remove") context.remove();
    }
  }
  static void step(State&, const Received<Call>&, Context&) {}
  static void step(State&, const Received<Send>&, Context&) {}
  static void step(State&, const Received<Timer>&, Context&) {}
};

class EndingTest : public ::testing::Test {
 protected:
  testing::World world_{Module::of<Servant>("test/code@1")};
  kernel::testing::Bench& bench_ = world_.bench;

  kernel::Outcome tell(const std::string& words) {
    return bench_.event("test/Told@1", R"({"id":"a","words":[)" + words + "]}");
  }
  const kernel::Cell* servant() { return bench_.find("test/Servant@1", R"("a")"); }
  std::string outcome() { return servant() == nullptr ? "" : json_of(servant()->outcome); }

  const std::string failed_ =
      R"({"code":"told.so","details":null,"message":"fail","retryable":false})";
  const std::vector<std::string> once_ = {"test/Said@1"};
};

TEST_F(EndingTest, what_a_step_opened_before_it_completes_is_dropped) {
  EXPECT_TRUE(opened(tell(R"("open","timer","complete")")).empty());
  EXPECT_EQ(servant()->status(), kernel::Status::kCompleted);
  EXPECT_EQ(outcome(), "3");
  bench_.expect_replays();
}

TEST_F(EndingTest, what_a_step_opened_before_it_fails_is_dropped_and_the_code_is_kept) {
  EXPECT_TRUE(opened(tell(R"("open","fail")")).empty());
  EXPECT_EQ(outcome(), failed_);
  bench_.expect_replays();
}

TEST_F(EndingTest, what_a_step_opened_before_it_is_removed_is_dropped) {
  EXPECT_TRUE(opened(tell(R"("open","remove")")).empty());
  EXPECT_EQ(servant(), nullptr);
  bench_.expect_replays();
}

TEST_F(EndingTest, what_is_dropped_does_not_count_for_the_budget_of_the_step) {
  EXPECT_TRUE(opened(tell(R"("much","much","complete")")).empty());
  EXPECT_EQ(servant()->status(), kernel::Status::kCompleted);
  bench_.expect_replays();
}

TEST_F(EndingTest, what_earlier_steps_opened_is_cancelled) {
  const kernel::Outcome first = tell(R"("open")");
  const kernel::Outcome last = tell(R"("complete")");
  ASSERT_EQ(last.commands.size(), 1u);
  EXPECT_EQ(std::get<kernel::StopIntent>(last.commands[0]).intent, opened(first)[0]);
}

TEST_F(EndingTest, what_a_step_emitted_before_it_ends_goes_out) {
  EXPECT_EQ(testing::emitted(tell(R"("emit","complete")")), once_);
  EXPECT_EQ(servant()->status(), kernel::Status::kCompleted);
}

TEST_F(EndingTest, an_event_between_effects_that_are_dropped_goes_out) {
  EXPECT_EQ(testing::emitted(tell(R"("open","emit","open","fail")")), once_);
  EXPECT_EQ(outcome(), failed_);
}

TEST_F(EndingTest, nothing_is_heard_after_the_end) {
  for (const std::string end : {"complete", "fail", "remove"}) {
    testing::World world{Module::of<Servant>("test/code@1")};
    const kernel::Outcome told = world.bench.event(
        "test/Told@1", R"({"id":"a","words":["emit",")" + end + R"(","emit","open","timer"]})");
    EXPECT_EQ(testing::emitted(told), once_) << end;
    EXPECT_TRUE(told.commands.empty()) << end;
  }
}

TEST_F(EndingTest, the_first_end_counts) {
  tell(R"("fail","complete","remove")");
  EXPECT_EQ(outcome(), failed_);
}

TEST_F(EndingTest, a_result_is_not_replaced) {
  tell(R"("complete","complete","fail","remove")");
  EXPECT_EQ(servant()->status(), kernel::Status::kCompleted);
  EXPECT_EQ(outcome(), "1");
}

TEST_F(EndingTest, a_removed_instance_stays_removed) {
  tell(R"("remove","complete","fail")");
  EXPECT_EQ(servant(), nullptr);
}

TEST_F(EndingTest, the_last_state_is_kept_with_a_result) {
  tell(R"("open")");
  tell(R"("complete","and","more")");
  EXPECT_EQ(json_of(servant()->state), R"({"words":4})");
  EXPECT_EQ(outcome(), "2");
  bench_.expect_replays();
}

TEST_F(EndingTest, the_last_state_is_kept_with_a_failure) {
  tell(R"("open")");
  tell(R"("fail")");
  EXPECT_EQ(json_of(servant()->state), R"({"words":2})");
  EXPECT_EQ(outcome(), failed_);
  bench_.expect_replays();
}

TEST_F(EndingTest, a_first_step_that_ends_leaves_a_state_too) {
  tell(R"("complete")");
  EXPECT_EQ(json_of(servant()->state), R"({"words":1})");
}

}  // namespace
}  // namespace holdfast::native::ending_test
