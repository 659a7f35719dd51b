// SPDX-License-Identifier: Apache-2.0
// What bodies see of what they have put aside, of their waits, and of time that is over.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "defs/builtin.h"
#include "native/bundle.h"
#include "native/testing_steps.h"

namespace holdfast::native::body_test {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::string how;
};
struct Word {
  static constexpr std::string_view kSchema = "test/Word@1";
  std::string id;
};
struct Other {
  static constexpr std::string_view kSchema = "test/Other@1";
  std::string id;
};
struct Question {
  static constexpr std::string_view kSchema = "test/Question@1";
  std::string text;
};
struct A {
  static constexpr std::string_view kSchema = "test/A@1";
  std::uint64_t n = 0;
};
struct B {
  static constexpr std::string_view kSchema = "test/B@1";
  std::uint64_t n = 0;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Family : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Family@1";
  using Events =
      holdfast::Events<On<Begin, &Begin::id>, On<Word, &Word::id>, On<Other, &Other::id>>;
  using Stop = End;
  using Asks = holdfast::Asks<Question>;
  using Sends = holdfast::Sends<A, B>;
  using Children = holdfast::Children<Family>;

  End begin(const Begin& begin, StepContext& context) {
    try {
      if (begin.how == "word") return {context.wait_for<Word>().id};
      if (begin.how == "other") return {context.wait_for<Other>().id};
      if (begin.how == "child") return context.run<Family>(Begin{"c", ""});
      if (begin.how == "cancel") return context.cancel_step("loop"), End{"cancelled"};
      if (begin.how == "late child") return context.run<Family>(Begin{"c", ""}, {.timeout = 0s});
      return {context.ask<Word>(Question{"well?"}, {.timeout = patience}).id};
    } catch (const WaitTimedOut&) {
      return {"too late"};
    }
  }
  // Three in one body, of two types.
  End loop(const A& a, StepContext& context) {
    std::string text;
    for (std::uint64_t n = 0; n < 4; ++n) {
      static_cast<void>(context.collect(B{n + 10}, 5));
      if (const auto all = context.collect(A{a.n + n}, 3)) {
        for (const A& one : *all) text += std::to_string(one.n) + " ";
      }
    }
    if (const auto all = context.collect(B{14}, 5)) text += std::to_string(all->front().n);
    return {text};
  }
  std::optional<End> pair(const B& b, StepContext& context) {
    const auto pair = context.collect<B, A, B>(b);
    if (b.n == 0) static_cast<void>(context.collect<B, A, B>(A{1}));
    if (b.n == 0) static_cast<void>(context.collect<B, A, B>(A{2}));  // one is enough
    const auto all = context.collect<B, A, B>(B{b.n + 5});
    if (pair || !all) return End{pair ? "too early" : "not complete"};
    return End{std::to_string(std::get<0>(*all).n) + " " + std::to_string(std::get<1>(*all).n) +
               " " + std::to_string(std::get<2>(*all).n)};
  }
  static auto steps() {
    return StepsOf<Family>()
        .step("begin", &Family::begin)
        .step("loop", &Family::loop)
        .step("pair", &Family::pair);
  }

  std::optional<Duration> patience;
};

Lines only_last(const Lines& lines) { return {lines.back()}; }

TEST(StepBody, collecting_sees_what_the_body_has_put_aside_and_only_its_own_type) {
  testing::BodyOf<Family> body;
  EXPECT_EQ(only_last(body.run("loop", A{1})),
            Lines({R"(returned test/End@1{"text":"1 2 3 10"})"}));
}

TEST(StepBody, a_type_that_is_named_twice_is_needed_twice) {
  testing::BodyOf<Family> body;
  EXPECT_EQ(only_last(body.run("pair", B{0})), Lines({R"(returned test/End@1{"text":"0 1 5"})"}));
}

TEST(StepBody, an_answer_that_was_for_another_wait_fails_the_step) {
  testing::BodyOf<Family> body;
  body.answer("begin", "#1", Word{"w"});
  EXPECT_EQ(body.run("begin", Begin{"k", "word"}), Lines({R"(returned test/End@1{"text":"w"})"}));
  EXPECT_EQ(body.run("begin", Begin{"k", "other"}),
            Lines({"failed step.not_repeated: the wait '#1' is for 'test/Other@1', and was for "
                   "'test/Word@1' when it began: a body must do the same each time up to its "
                   "waits"}));
  EXPECT_EQ(body.run("begin", Begin{"k", "child"}),
            Lines({"failed step.not_repeated: the wait '#1' is for the end of a child, and was for "
                   "'test/Word@1' when it began: a body must do the same each time up to its "
                   "waits"}));
}

TEST(StepBody, a_wait_without_time_is_over_at_once_unless_it_was_answered) {
  for (const Duration patience : {Duration(0s), Duration(-5s), Duration::min()}) {
    testing::BodyOf<Family> body;
    body.host->patience = patience;
    EXPECT_EQ(body.run("begin", Begin{"k", ""}),
              Lines({R"(returned test/End@1{"text":"too late"})"}));
    body.answer("begin", "#1", Word{"w"});
    EXPECT_EQ(body.run("begin", Begin{"k", ""}), Lines({R"(returned test/End@1{"text":"w"})"}));
  }
  testing::BodyOf<Family> body;
  EXPECT_EQ(body.run("begin", Begin{"k", ""}),
            Lines({R"(waits #1 test/Word@1 asks test/Question@1{"text":"well?"})"}));
  EXPECT_EQ(body.run("begin", Begin{"k", "late child"}),
            Lines({R"(returned test/End@1{"text":"too late"})"}));
}

TEST(StepBody, who_cancels_a_step_has_its_bodies_told) {
  testing::BodyOf<Family> body;
  EXPECT_EQ(body.run("begin", Begin{"k", "cancel"}),
            Lines({"cancels loop, told", R"(returned test/End@1{"text":"cancelled"})"}));
}

struct Hurried : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Hurried@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  End begin(const Begin&, StepContext&) { return {}; }
  static auto steps() {
    return StepsOf<Hurried>().step("begin", &Hurried::begin, {.timeout = of_step}).timeout(of_run);
  }
  static inline Duration of_step = 1s;
  static inline Duration of_run = 1s;
};

TEST(StepBody, a_graph_in_which_something_may_take_no_time_is_refused) {
  const auto errors = [](Duration of_step, Duration of_run) {
    Hurried::of_step = of_step;
    Hurried::of_run = of_run;
    const Module module = Module::of<Hurried>("test/code@1");
    const defs::Catalogue builtin = defs::builtin_catalogue();
    Lines lines;
    for (const base::Error& error : load({&module, 1}, &builtin).errors)
      lines.push_back(error.to_string());
    return lines;
  };
  EXPECT_EQ(errors(1ns, 1ns), Lines());
  EXPECT_EQ(errors(0s, 1s),
            Lines({"test/Hurried@1: the timeout of step 'begin' must be more than 0"}));
  EXPECT_EQ(errors(1s, -1s), Lines({"test/Hurried@1: the timeout of a run must be more than 0"}));
}

}  // namespace
}  // namespace holdfast::native::body_test
