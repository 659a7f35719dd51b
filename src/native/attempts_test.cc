// SPDX-License-Identifier: Apache-2.0
// What a body hears of the attempt before it, what it may not put, and policies that throw.
#include <gtest/gtest.h>

#include "native/testing_steps.h"

namespace holdfast::native::attempts_test {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::string how;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Strange {
  static constexpr std::string_view kSchema = "test/Strange@1";
  std::string text;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Trying : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Trying@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  using Sends = holdfast::Sends<Part>;

  End begin(const Begin& begin, StepContext& context) {
    if (begin.how == "put") context.put(Strange{"?"});
    if (begin.how == "publish") context.publish(End{"\xff"});
    if (begin.how == "long") throw StepError("test." + std::string(20'000, 'x'), "long");
    if (begin.how == "send") context.send(Strange{"?"});
    if (begin.how == "wait") return {context.wait_for<Strange>().text};
    if (begin.how == "none") {
      const auto none = context.collect(Part{1}, 0);
      return {none && none->empty() ? "an empty list" : "something else"};
    }
    if (begin.how == "fail") throw StepError("test.own", "its own error");
    const auto last = context.last_error();
    return {last ? last->code + ": " + last->what() : "none"};
  }
  std::optional<End> part(const Part&, StepContext&) { return std::nullopt; }
  std::optional<End> rescue(const StepFailed& failed, StepContext&) {
    return End{failed.code + " at " + std::to_string(failed.failed_at_ns)};
  }
  static auto steps() {
    return StepsOf<Trying>()
        .step("begin", &Trying::begin,
              {.retry = Retry([](const StepFailure&)
                                  -> Duration { throw std::runtime_error("the policy is broken"); },
                              never_stop())})
        .step("part", &Trying::part)
        .on_error("rescue", &Trying::rescue);
  }
};

TEST(StepAttempts, what_the_workflow_does_not_name_is_refused_at_the_call) {
  testing::BodyOf<Trying> body;
  EXPECT_TRUE(body.run("begin", Begin{"k", "put"})
                  .back()
                  .starts_with("failed step.bad_put: the workflow does not name 'test/Strange@1'"));
  EXPECT_TRUE(
      body.run("begin", Begin{"k", "send"})
          .back()
          .starts_with("failed step.bad_send: the workflow does not name 'test/Strange@1'"));
  EXPECT_TRUE(body.run("begin", Begin{"k", "wait"}).back().starts_with("failed step.bad_wait"));
}

// Whoever reads the stream sees all of it, or the body hears why not.
TEST(StepAttempts, what_cannot_be_shown_is_refused_at_the_call) {
  testing::BodyOf<Trying> body;
  const std::string line = body.run("begin", Begin{"k", "publish"}).back();
  EXPECT_TRUE(line.starts_with("failed step.bad_put: 'test/End@1' cannot be shown: ")) << line;
}

TEST(StepAttempts, of_a_long_code_the_beginning_is_kept) {
  testing::BodyOf<Trying> body;
  const std::string line = body.run("begin", Begin{"k", "long"}).back();
  EXPECT_TRUE(line.starts_with("failed test." + std::string(250, 'x') + ": long")) << line;
}

TEST(StepAttempts, none_collected_is_an_empty_list) {
  testing::BodyOf<Trying> body;
  EXPECT_EQ(body.run("begin", Begin{"k", "none"}),
            Lines({R"(returned test/End@1{"text":"an empty list"})"}));
}

TEST(StepAttempts, a_policy_that_throws_does_not_hide_the_error_of_the_step) {
  testing::BodyOf<Trying> body;
  EXPECT_EQ(body.run("begin", Begin{"k", "fail"}),
            Lines({"failed test.own: its own error (not tried again: the retry policy threw the "
                   "policy is broken)"}));
}

TEST(StepAttempts, the_last_error_is_there_for_the_next) {
  testing::BodyOf<Trying> body;
  EXPECT_EQ(body.run("begin", Begin{"k", ""}), Lines({R"(returned test/End@1{"text":"none"})"}));
  body.last_error = {"test.busy", "later"};
  EXPECT_EQ(body.run("begin", Begin{"k", ""}),
            Lines({R"(returned test/End@1{"text":"test.busy: later"})"}));
}

TEST(StepAttempts, a_handler_hears_when_the_step_failed) {
  testing::BodyOf<Trying> body;
  StepFailed failed;
  failed.code = "c";
  failed.failed_at_ns = 12;
  EXPECT_EQ(body.run("rescue", failed), Lines({R"(returned test/End@1{"text":"c at 12"})"}));
}

}  // namespace
}  // namespace holdfast::native::attempts_test
