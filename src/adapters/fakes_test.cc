// SPDX-License-Identifier: Apache-2.0
// A workflow that needs something of the world outside, tested as its author would: with a fake. A
// testing::World gets the same resources with its handlers: step_handlers(host, resources).
#include <gtest/gtest.h>

#include <map>

#include "holdfast/steps.h"
#include "holdfast/testing.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

// What the program gives to its steps, and what tests give instead.
class Bank {
 public:
  virtual ~Bank() = default;
  virtual bool charge(const std::string& key, std::uint64_t cents) = 0;
};
class FakeBank : public Bank {
 public:
  std::uint64_t limit = 1000;
  std::map<std::string, std::uint64_t> charged;  // by key: a charge that comes again is the same
  int away = 0;                                  // calls that it does not answer

  bool charge(const std::string& key, std::uint64_t cents) override {
    if (away-- > 0) throw StepError("bank.away", "nobody answers");
    if (cents > limit) return false;
    charged[key] = cents;
    return true;
  }
};

struct Order {
  static constexpr std::string_view kSchema = "test/PaidOrder@1";
  std::string id;
  std::uint64_t cents = 0;
};
struct Receipt {
  static constexpr std::string_view kSchema = "test/PaidReceipt@1";
  bool is_paid = false;
};
struct Payment : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Payment@1";
  using Events = holdfast::Events<On<Order, &Order::id>>;
  using Stop = Receipt;

  Receipt pay(const Order& order, StepContext& context) {
    return {context.resource<Bank>().charge(context.key, order.cents)};
  }
  static auto steps() {
    return StepsOf<Payment>().step("pay", &Payment::pay,
                                   {.retry = Retry(fixed(1h), after_attempts(3))});
  }
};

class Fakes : public ::testing::Test {
 protected:
  Fakes() {
    resources->add<Bank>("bank", [this] { return bank; });
  }
  const std::shared_ptr<FakeBank> bank = std::make_shared<FakeBank>();
  const std::shared_ptr<Resources> resources = std::make_shared<Resources>();
};

TEST_F(Fakes, are_given_to_runs_in_memory) {
  auto runs = MemoryRuns<Payment>::open(std::make_shared<Payment>(), {.resources = resources});
  ASSERT_TRUE(runs) << runs.error().message;
  bank->away = 2;
  ASSERT_TRUE((*runs)->send(Order{"o-1", 500}));
  EXPECT_FALSE((*runs)->find("o-1")->outcome);
  ASSERT_TRUE((*runs)->advance(2h));
  ASSERT_TRUE((*runs)->find("o-1")->outcome);
  EXPECT_TRUE((*runs)->find("o-1")->outcome->as<Receipt>()->is_paid);
  EXPECT_EQ(bank->charged.size(), 1U);
  ASSERT_TRUE((*runs)->send(Order{"o-2", 5000}));
  EXPECT_FALSE((*runs)->find("o-2")->outcome->as<Receipt>()->is_paid);
}

}  // namespace
}  // namespace holdfast
