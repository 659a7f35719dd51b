// SPDX-License-Identifier: Apache-2.0
// Steps that throw. The engine beneath is built without exceptions, so none may reach it.
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <variant>

#include "kernel/record_view.h"
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

constexpr std::size_t kTooLong = std::string::npos;

std::string made_too_long() {
  try {
    static_cast<void>(std::string().append(kTooLong, 'x'));
  } catch (const std::length_error& thrown) {
    return thrown.what();
  }
  return "it was not too long";
}

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
    if (asked.to == "make it too long") static_cast<void>(std::string().append(kTooLong, 'x'));
    if (asked.to == "say something else each time") {
      static int times = 0;
      throw std::runtime_error("time " + std::to_string(++times));
    }
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
  void expect_failed(const std::string& id, const std::string& what) {
    EXPECT_EQ(careless(id).status(), kernel::Status::kFailed);
    EXPECT_EQ(json_of(careless(id).outcome),
              R"({"code":"native.exception","details":null,"message":")" + what +
                  R"(","retryable":false})");
  }
};

TEST_F(ThrowingTest, an_exception_fails_the_instance_and_what_it_says_is_recorded) {
  const std::pair<const char*, std::string> all[] = {
      {"throw", "no such thing"},
      {"throw bytes", "bad ? byte"},
      {"throw at length", std::string(1024, 'x')},
      {"throw a number", "the step threw an exception that is no std::exception"},
      {"ask for too much", std::bad_array_new_length().what()},
      {"make it too long", made_too_long()}};
  for (const auto& [to, said] : all) {
    ask(to, to);
    expect_failed(to, said);
  }
  ask("lose the value", "lose the value");
  EXPECT_EQ(careless("lose the value").status(), kernel::Status::kFailed);
  bench_.expect_replays();
}

// Another release of the standard library has other words for it.
TEST_F(ThrowingTest, a_replay_takes_the_words_of_the_record) {
  ask("a", "say something else each time");
  EXPECT_EQ(careless("a").status(), kernel::Status::kFailed);
  bench_.expect_replays();
}

// As records have it that were written when the words were not kept.
TEST_F(ThrowingTest, a_record_without_the_words_is_replayed) {
  ask("a", "throw");
  const kernel::RecordView record = *kernel::read_record(bench_.journal().back());
  ASSERT_EQ(record.tick.halts.size(), 1u);
  EXPECT_EQ(record.tick.halts[0], (kernel::Halt{kernel::HaltKind::kThrew, 0, "no such thing"}));
  base::Bytes old = bench_.journal().back();
  const std::string_view said = "no such thing";
  const std::string_view before = "the step threw an exception";
  // The outcome in the old words, and nothing behind the notes.
  const auto at = std::search(old.begin(), old.end(), said.begin(), said.end());
  base::Bytes made(old.begin(), at - 1);
  made.push_back(0x78);  // a text of up to 255 bytes
  made.push_back(static_cast<std::uint8_t>(before.size()));
  made.insert(made.end(), before.begin(), before.end());
  const auto rest = at + static_cast<std::ptrdiff_t>(said.size());
  const std::size_t halts = 1 + 3 + 1 + said.size();  // [[2, 0, text]]
  made.insert(made.end(), rest, old.end() - static_cast<std::ptrdiff_t>(halts));
  made[3] = 0x88;
  kernel::World world(world_.machines, bench_.blobs());
  ASSERT_TRUE(world.replay(bench_.journal().front()));
  const auto replayed = world.replay(made);
  EXPECT_TRUE(replayed) << replayed.error().to_string();
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
  expect_failed("a", "after all");
}

TEST_F(ThrowingTest, a_step_that_runs_out_of_memory_pauses_its_instance_and_the_world_goes_on) {
  ask("a", "go on");
  const std::string before = json_of(careless("a").state);
  const kernel::Outcome outcome = ask("a", "run out of memory");
  EXPECT_FALSE(outcome.failure);
  EXPECT_TRUE(opened(outcome).empty());
  EXPECT_TRUE(careless("a").paused);
  EXPECT_EQ(careless("a").mail.size(), 1u);
  EXPECT_EQ(json_of(careless("a").state), before);
  ask("b", "go on");
  EXPECT_EQ(careless("b").status(), kernel::Status::kWaiting);
  bench_.expect_replays();
}

TEST_F(ThrowingTest, an_answer_may_throw_as_well_and_other_instances_go_on) {
  const kernel::Outcome asked = ask("a", "go on");
  ask("b", "go on");
  ASSERT_EQ(opened(asked).size(), 1u);
  bench_.receipt(opened(asked)[0], "{}");
  expect_failed("a", "of all things");
  EXPECT_EQ(opened(ask("b", "go on")).size(), 1u);
  EXPECT_EQ(careless("b").status(), kernel::Status::kWaiting);
  bench_.expect_replays();
  bench_.put_away();
  EXPECT_EQ(opened(ask("b", "go on")).size(), 1u);
}

}  // namespace
}  // namespace holdfast::native::throwing_test
