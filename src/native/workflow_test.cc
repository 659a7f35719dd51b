// SPDX-License-Identifier: Apache-2.0
#include "holdfast/workflow.h"

#include <gtest/gtest.h>

#include "native/testing.h"

namespace holdfast::native {
namespace {

using kernel::testing::json_of;
using kernel::testing::opened;
using kernel::testing::value;

struct Placed {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
  std::uint64_t cents = 0;
};

struct Charge {
  static constexpr std::string_view kEffect = "shop/charge@1";
  static constexpr Executor kExecutor = worker("payments");
  struct Params {
    std::uint64_t cents = 0;
  };
  struct Receipt {
    std::string reference;
  };
};

struct Paid {
  std::string reference;
  std::uint64_t cents = 0;
};

// Charges what the order costs; is done when it is paid.
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t cents = 0;
  };
  using Events = holdfast::Events<On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<Charge>;
  using Context = holdfast::Context<Order>;

  static void step(State& state, const Placed& placed, Context& context) {
    state.cents = placed.cents;
    context.open<Charge>({.cents = placed.cents});
  }
  static void step(State& state, const Received<Charge>& charged, Context& context) {
    if (!charged.ok()) return context.fail(charged.error.code, charged.error.message);
    context.complete(Paid{charged.receipt.reference, state.cents});
  }
};

class WorkflowTest : public ::testing::Test {
 protected:
  testing::World world_{Module::of<Order>("shop/code@1")};
  kernel::testing::Bench& bench_ = world_.bench;

  const kernel::Cell& order(std::string_view id) {
    const kernel::Cell* cell =
        bench_.world().find("shop/Order@1", value('"' + std::string(id) + '"'));
    EXPECT_NE(cell, nullptr);
    return *cell;
  }
};

TEST_F(WorkflowTest, an_event_steps_its_instance_and_a_receipt_completes_it) {
  const kernel::Outcome placed = bench_.event("shop/Placed@1", R"({"id":"o-1","cents":5})");
  ASSERT_EQ(opened(placed).size(), 1u);
  EXPECT_EQ(json_of(std::get<kernel::OpenIntent>(placed.commands[0]).params), R"({"cents":5})");
  EXPECT_EQ(json_of(order("o-1").state), R"({"cents":5})");
  bench_.receipt(opened(placed)[0], R"({"reference":"r-9"})");
  EXPECT_EQ(order("o-1").status(), kernel::Status::kCompleted);
  EXPECT_EQ(json_of(order("o-1").outcome), R"({"cents":5,"reference":"r-9"})");
  EXPECT_EQ(bench_.replayed().next_record(), 3u);
}

}  // namespace
}  // namespace holdfast::native
