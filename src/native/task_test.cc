// SPDX-License-Identifier: Apache-2.0
// Steps that are coroutines.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "native/testing_steps.h"

namespace holdfast::native::task_test {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::string how;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string id;
  std::string text;
};
struct Question {
  static constexpr std::string_view kSchema = "test/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

// Counts what is alive.
struct Guard {
  explicit Guard(int& the_count) : count(the_count) { ++count; }
  ~Guard() { --count; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  int& count;
};

struct Tasks : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Tasks@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Answer, &Answer::id>>;
  using Stop = End;
  using Asks = holdfast::Asks<Question>;

  // Asks twice. Whatever it does with exceptions, a wait is none.
  StepTask<End> ask(const Begin& begin, TaskContext& context) {
    const Guard guard(alive);
    const std::string much(100, 'x');  // not in the small space of a string
    std::string text = "caught";
    try {
      const auto question = context.ask<Answer>(Question{"may I? " + much});
      const Answer first = co_await question;
      if (begin.how == "throw") throw StepError("test.thrown", "on purpose");
      const auto wait = context.wait_for<Answer>(
          WaitOptions{.timeout = 30s, .id = "second"}.where("text", std::string("boss")));
      const Answer second = co_await wait;
      text = begin.how + " " + first.text + " " + second.text;
    } catch (const WaitTimedOut&) {
      text = "too late";
    } catch (...) {
      if (begin.how == "throw") throw;
      ++caught;
    }
    co_return End{text};
  }

  // A part of a step may be a coroutine, too.
  StepTask<std::string> two_answers(TaskContext& context) {
    const Guard guard(alive);
    const auto first = co_await context.wait_for<Answer>();
    context.put(Part{1});
    const auto second = co_await context.wait_for<Answer>(30s);
    if (second.text == "no") throw StepError("test.no", "they said no");
    co_return first.text + second.text;
  }
  StepTask<std::optional<Part>> deep(const Part& part, TaskContext& context) const {
    const Guard guard(alive);
    Tasks* self = const_cast<Tasks*>(this);
    const std::string text = co_await self->two_answers(context);
    if (text == "nothing") co_return std::nullopt;
    co_return Part{part.n + text.size()};
  }
  StepTask<void> hear(const Answer&, TaskContext&) {
    ++heard;
    co_return;
  }
  StepTask<std::vector<Part>> split(const Question&, TaskContext&) {
    co_return std::vector<Part>{{1}, {2}, {3}};
  }
  // Plain ones stand beside them.
  std::variant<Question, End> plain(const Part&, StepContext& context) const {
    return End{context.wait_for<Answer>().text};
  }

  static auto steps() {
    return StepsOf<Tasks>()
        .step("ask", &Tasks::ask)
        .step("deep", &Tasks::deep)
        .step("hear", &Tasks::hear)
        .step("split", &Tasks::split)
        .step("plain", &Tasks::plain);
  }

  mutable int alive = 0;
  int caught = 0;
  int heard = 0;
};

class StepTaskTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(body.host->alive, 0); }
  testing::BodyOf<Tasks> body;
  const std::string question = "test/Question@1{\"text\":\"may I? " + std::string(100, 'x') + "\"}";
};

TEST_F(StepTaskTest, a_wait_ends_the_run_and_destroys_the_frame) {
  EXPECT_EQ(body.run("ask", Begin{"k", "how"}), (Lines{"waits #1 test/Answer@1 asks " + question}));
  EXPECT_EQ(body.host->alive, 0);
  EXPECT_EQ(body.host->caught, 0);
}

TEST_F(StepTaskTest, a_wait_that_is_over_is_ready_at_once) {
  body.answer("ask", "#1", Answer{"k", "ada"});
  EXPECT_EQ(body.run("ask", Begin{"k", "how"}), Lines{"waits second test/Answer@1"});
  body.answer("ask", "second", Answer{"k", "boss"});
  EXPECT_EQ(body.run("ask", Begin{"k", "how"}),
            Lines{R"(returned test/End@1{"text":"how ada boss"})"});
  EXPECT_EQ(body.host->caught, 0);
}

TEST_F(StepTaskTest, nobody_can_catch_a_wait) {
  body.answer("ask", "#1", Answer{"k", "ada"});
  EXPECT_EQ(body.run("ask", Begin{"k", "how"}).size(), 1U);
  EXPECT_EQ(body.host->caught, 0);
}

TEST_F(StepTaskTest, a_wait_that_timed_out_throws_where_it_is_awaited) {
  body.time_out("ask", "#1");
  EXPECT_EQ(body.run("ask", Begin{"k", "how"}), Lines{R"(returned test/End@1{"text":"too late"})"});
}

TEST_F(StepTaskTest, what_it_throws_is_how_it_failed) {
  body.answer("ask", "#1", Answer{"k", "ada"});
  EXPECT_EQ(body.run("ask", Begin{"k", "throw"}), Lines{"failed test.thrown: on purpose"});
}

TEST_F(StepTaskTest, may_await_another_and_waits_where_that_waits) {
  EXPECT_EQ(body.run("deep", Part{5}), Lines{"waits #1 test/Answer@1"});
  body.answer("deep", "#1", Answer{"k", "ab"});
  EXPECT_EQ(body.run("deep", Part{5}),
            (Lines{R"(put test/Part@1{"n":1})", "waits #2 test/Answer@1"}));
  body.answer("deep", "#2", Answer{"k", "cde"});
  EXPECT_EQ(body.run("deep", Part{5}),
            (Lines{R"(put test/Part@1{"n":1})", R"(returned test/Part@1{"n":10})"}));
}

TEST_F(StepTaskTest, hears_what_another_threw) {
  body.answer("deep", "#1", Answer{"k", "ab"});
  body.answer("deep", "#2", Answer{"k", "no"});
  EXPECT_EQ(body.run("deep", Part{5}), Lines{"failed test.no: they said no"});
}

TEST_F(StepTaskTest, returns_whatever_a_step_may_return) {
  body.answer("deep", "#1", Answer{"k", "noth"});
  body.answer("deep", "#2", Answer{"k", "ing"});
  EXPECT_EQ(body.run("deep", Part{5})[1], "returned");
  EXPECT_EQ(body.run("hear", Answer{"k", ""}), Lines{"returned"});
  EXPECT_EQ(body.host->heard, 1);
  EXPECT_EQ(body.run("split", Question{""}), Lines{"returned 3"});
}

TEST_F(StepTaskTest, plain_functions_are_as_they_were) {
  EXPECT_EQ(body.run("plain", Part{5}), Lines{"waits #1 test/Answer@1"});
  body.answer("plain", "#1", Answer{"k", "yes"});
  EXPECT_EQ(body.run("plain", Part{5}), Lines{R"(returned test/End@1{"text":"yes"})"});
}

TEST_F(StepTaskTest, the_graph_is_that_of_what_comes_of_it) {
  const steps::StepDef& deep = body.graph.step(*body.graph.step_named("deep"));
  EXPECT_EQ(deep.returns, std::vector{*body.graph.type_named("test/Part@1")});
  const steps::StepDef& split = body.graph.step(*body.graph.step_named("split"));
  EXPECT_EQ(split.returns_list, std::vector{*body.graph.type_named("test/Part@1")});
}

}  // namespace
}  // namespace holdfast::native::task_test
