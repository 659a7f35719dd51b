// SPDX-License-Identifier: Apache-2.0
// Steps that throw. The engine beneath is built without exceptions, so none may reach it.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <variant>

#include "native/testing.h"

namespace holdfast::native::throwing_test {
namespace {

using kernel::testing::json_of;
using kernel::testing::opened;

struct Asked {
  static constexpr std::string_view kSchema = "test/Asked@1";
  std::string id;
  std::string to;
};
struct Heard {
  static constexpr std::string_view kSchema = "test/Heard@1";
  std::string id;
};

struct Call {
  static constexpr std::string_view kEffect = "test/call@1";
  static constexpr Executor kExecutor = worker("calls");
  struct Params {};
  struct Receipt {};
};

struct Sound {
  static constexpr std::string_view kSchema = "test/Sound@1";
  std::string text;
};

// A variant that was to hold it holds nothing then, and cannot be written.
struct Breaks {
  // NOLINTNEXTLINE(google-explicit-constructor): the variant converts it without being asked.
  operator Sound() const { throw std::runtime_error("broken on the way"); }
};

struct Careless {
  static constexpr std::string_view kWorkflow = "test/Careless@1";
  struct State {
    std::uint64_t steps = 0;
    std::variant<Heard, Sound> last;
  };
  using Events = holdfast::Events<On<Asked, &Asked::id>>;
  using Effects = holdfast::Effects<Call>;
  using Emits = holdfast::Emits<Heard>;
  using Context = holdfast::Context<Careless>;

  static void step(State& state, const Asked& asked, Context& context) {
    ++state.steps;
    context.emit(Heard{asked.id});
    context.open<Call>({});
    if (asked.to == "throw") throw std::runtime_error("no such thing");
    if (asked.to == "throw at length") throw std::runtime_error(std::string(100'000, 'x'));
    if (asked.to == "throw bytes") throw std::runtime_error("bad \xff byte");
    if (asked.to == "throw a number") throw 5;
    if (asked.to == "run out of memory") throw std::bad_alloc();
    if (asked.to == "ask for too much") throw std::bad_array_new_length();
    if (asked.to == "complete and throw") {
      context.complete(asked.id);
      throw std::runtime_error("after all");
    }
    if (asked.to == "lose the value") {
      try {
        state.last.emplace<Sound>(Breaks());
      } catch (const std::runtime_error&) {  // and go on with what is left
      }
    }
  }
  static void step(State&, const Received<Call>&, Context&) {
    throw std::logic_error("of all things");
  }
};

class ThrowingTest : public ::testing::Test {
 protected:
  testing::World world_{Module::of<Careless>("test/code@1")};
  kernel::testing::Bench& bench_ = world_.bench;

  kernel::Outcome ask(const std::string& id, const std::string& to) {
    return bench_.event("test/Asked@1", R"({"id":")" + id + R"(","to":")" + to + R"("})");
  }
  const kernel::Cell& careless(const std::string& id) {
    const kernel::Cell* cell = bench_.find("test/Careless@1", '"' + id + '"');
    EXPECT_NE(cell, nullptr);
    return *cell;
  }
  void expect_failed(const std::string& id) {
    EXPECT_EQ(careless(id).status(), kernel::Status::kFailed);
    EXPECT_EQ(json_of(careless(id).outcome),
              R"({"code":"native.exception","details":null,)"
              R"("message":"the step threw an exception","retryable":false})");
  }
};

// What it says may be the words of the standard library, which other releases choose otherwise.
TEST_F(ThrowingTest, an_exception_fails_the_instance_and_what_it_says_is_not_recorded) {
  for (const char* thrown : {"throw", "throw bytes", "throw at length", "throw a number",
                             "ask for too much", "lose the value"}) {
    ask(thrown, thrown);
    expect_failed(thrown);
  }
  bench_.expect_replays();
}

TEST_F(ThrowingTest, nothing_that_the_step_asked_for_is_kept) {
  ask("a", "go on");
  const std::string before = json_of(careless("a").state);
  const kernel::Outcome thrown = ask("a", "throw");
  EXPECT_TRUE(opened(thrown).empty());
  EXPECT_TRUE(testing::emitted(thrown).empty());
  EXPECT_EQ(json_of(careless("a").state), before);
}

TEST_F(ThrowingTest, a_result_is_not_kept_either) {
  ask("a", "complete and throw");
  expect_failed("a");
}

TEST_F(ThrowingTest, a_step_that_runs_out_of_memory_ends_the_world_and_not_the_instance) {
  const kernel::Outcome outcome = ask("a", "run out of memory");
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(outcome.failure->where(), "record 2");
}

TEST_F(ThrowingTest, an_answer_may_throw_as_well_and_other_instances_go_on) {
  const kernel::Outcome asked = ask("a", "go on");
  ask("b", "go on");
  ASSERT_EQ(opened(asked).size(), 1u);
  bench_.receipt(opened(asked)[0], "{}");
  expect_failed("a");
  EXPECT_EQ(opened(ask("b", "go on")).size(), 1u);
  EXPECT_EQ(careless("b").status(), kernel::Status::kWaiting);
  bench_.expect_replays();
  bench_.put_away();
  EXPECT_EQ(opened(ask("b", "go on")).size(), 1u);
}

}  // namespace
}  // namespace holdfast::native::throwing_test
