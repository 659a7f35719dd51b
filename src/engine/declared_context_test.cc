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

}  // namespace
}  // namespace holdfast::declared_context_test
