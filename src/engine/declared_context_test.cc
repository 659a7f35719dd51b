// SPDX-License-Identifier: Apache-2.0
// A workflow that declares its context gets all of it; a step that publishes is heard before its
// end.
#include <gtest/gtest.h>

#include <optional>

#include "holdfast/steps.h"
#include "holdfast/testing.h"

namespace holdfast::declared_context_test {
namespace {

struct Look {
  static constexpr std::string_view kSchema = "test/Look@1";
  std::string id;
};

struct Aware {
  static constexpr std::string_view kWorkflow = "test/Aware@1";
  static constexpr bool kDeclaresContext = true;
  struct State {
    std::uint64_t steps = 0;
  };
  using Events = holdfast::Events<On<Look, &Look::id>>;
  using Effects = holdfast::Effects<>;
  using Context = holdfast::Context<Aware>;

  static void step(State& state, const Look&, Context& context) {
    ++state.steps;
    seen = context.declared();
    context.complete(state.steps);
  }
  static inline std::optional<WorkflowContext> seen;
};

TEST(DeclaredContext, has_all_its_fields) {
  auto world =
      testing::World::open({Module::of<Aware>("test/code@1")}, {}, Time(std::chrono::hours(1)));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Look{"a"}));
  const auto ended = (*world)->query<Aware>("a");
  ASSERT_TRUE(ended) << ended.error().message;
  ASSERT_FALSE(ended->error) << ended->error->code << ": " << ended->error->message;
  const std::optional<WorkflowContext>& declared = Aware::seen;
  ASSERT_TRUE(declared);
  EXPECT_NE(declared->now_ns, 0U);
  EXPECT_GE(declared->logical_now_ns, declared->now_ns);
  EXPECT_NE(declared->journal_height, 0U);
  EXPECT_EQ(declared->entropy.size(), 32U);
  EXPECT_NE(declared->event_hash, Hash());
  EXPECT_NE(declared->manifest_hash, Hash());
  EXPECT_EQ(declared->workflow, "test/Aware@1");
  EXPECT_TRUE(declared->workflow_hash && *declared->workflow_hash != Hash());
  EXPECT_EQ(declared->key, Bytes({0xd9, 0xd9, 0xf7, 0x61, 0x61}));
  EXPECT_TRUE(declared->cell_mode);
}

struct Token {
  static constexpr std::string_view kSchema = "test/Token@1";
  std::uint64_t n = 0;
};
struct Told {
  static constexpr std::string_view kSchema = "test/Told@1";
  std::uint64_t n = 0;
};
struct Teller : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Teller@1";
  using Events = holdfast::Events<On<Look, &Look::id>>;
  using Stop = Told;
  using Publishes = holdfast::Publishes<Token>;

  Told tell(const Look&, StepContext& context) {
    for (std::uint64_t n = 1; n <= 3; ++n) EXPECT_TRUE(context.publish(Token{n}));
    return {3};
  }
  static auto steps() { return StepsOf<Teller>().step("tell", &Teller::tell); }
};

TEST(Publish, pieces_come_in_order_and_before_the_end) {
  auto world = testing::World::open({Module::of<Teller>("test/code@1")},
                                    step_handlers(std::make_shared<Teller>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Look{"a"}));
  std::vector<std::string> lines;
  for (const StepEntry& entry : (*world)->stream<Teller>("a")) {
    if (const auto token = entry.as<Token>())
      lines.push_back(entry.step + " " + std::to_string(token->n));
    if (entry.kind == "stopped") lines.push_back("stopped");
  }
  EXPECT_EQ(lines, std::vector<std::string>({"tell 1", "tell 2", "tell 3", "stopped"}));
}

struct Large {
  static constexpr std::string_view kSchema = "test/Large@1";
  std::string text;
};
struct Loud : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Loud@1";
  using Events = holdfast::Events<On<Look, &Look::id>>;
  using Stop = Told;
  using Publishes = holdfast::Publishes<Large>;

  Told tell(const Look&, StepContext& context) {
    EXPECT_TRUE(context.publish(Large{std::string(kMaxPublishedBytes - 100, 'x')}));
    context.publish(Large{std::string(kMaxPublishedBytes, 'x')});
    return {1};
  }
  static auto steps() { return StepsOf<Loud>().step("tell", &Loud::tell); }
};

TEST(Publish, a_piece_that_is_too_large_fails_the_step_at_the_call) {
  auto world = testing::World::open({Module::of<Loud>("test/code@1")},
                                    step_handlers(std::make_shared<Loud>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Look{"a"}));
  const auto ended = (*world)->query<Loud>("a");
  ASSERT_TRUE(ended && ended->error);
  EXPECT_EQ(ended->error->code, "step.too_large");
  EXPECT_NE(ended->error->message.find("64 KiB"), std::string::npos) << ended->error->message;
}

struct Rescue {
  static constexpr std::string_view kSchema = "test/Rescue@1";
  std::uint64_t at_ns = 0;
  std::string said;
};
struct Rescued : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Rescued@1";
  using Events = holdfast::Events<On<Look, &Look::id>>;
  using Stop = Rescue;

  Rescue work(const Look&, StepContext& context) {
    const auto last = context.last_error();
    throw StepError("test.busy", last ? "again after " + last->code + ": " + last->what() : "busy");
  }
  Rescue rescue(const StepFailed& failed, StepContext&) {
    return {failed.failed_at_ns, failed.message};
  }
  static auto steps() {
    return StepsOf<Rescued>()
        .step("work", &Rescued::work,
              {.retry = Retry(fixed(std::chrono::seconds(1)), after_attempts(2))})
        .on_error("rescue", &Rescued::rescue);
  }
};

TEST(LastError, is_told_to_the_next_attempt_and_the_handler_hears_when_the_last_one_failed) {
  auto world =
      testing::World::open({Module::of<Rescued>("test/code@1")},
                           step_handlers(std::make_shared<Rescued>()), Time(std::chrono::hours(1)));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Look{"a"}));
  (*world)->advance(std::chrono::seconds(10));
  const auto ended = (*world)->query<Rescued>("a");
  ASSERT_TRUE(ended) << ended.error().message;
  const auto rescue = ended->result_as<Rescue>();
  ASSERT_TRUE(rescue);
  EXPECT_EQ(rescue->said, "again after test.busy: busy");
  constexpr std::uint64_t kSecond = 1'000'000'000;
  EXPECT_GE(rescue->at_ns, 3601 * kSecond);
  EXPECT_LE(rescue->at_ns, 3610 * kSecond);
}

}  // namespace
}  // namespace holdfast::declared_context_test
