// SPDX-License-Identifier: Apache-2.0
// The code that docs/steps.md shows, and what it says of it. tests/docs/snippets_test.py compares.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "holdfast/steps.h"
#include "holdfast/testing.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

struct Request {
  static constexpr std::string_view kSchema = "shop/Request@1";
  std::string id;
  std::uint64_t cents = 0;
};
struct Decision {
  static constexpr std::string_view kSchema = "shop/Decision@1";
  std::string id;
  std::string by;
  bool is_good = false;
};
struct Question {
  static constexpr std::string_view kSchema = "shop/Question@1";
  std::string text;
};
struct Checked {
  static constexpr std::string_view kSchema = "shop/Checked@1";
  std::uint64_t cents = 0;
};
struct Outcome {
  static constexpr std::string_view kSchema = "shop/Outcome@1";
  std::string text;
};

struct Approval : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Approval@1";
  using Events = holdfast::Events<holdfast::On<Request, &Request::id>,     // begins a run
                                  holdfast::On<Decision, &Decision::id>>;  // comes later
  using Stop = Outcome;                                                    // ends it
  using Asks = holdfast::Asks<Question>;

  Checked check(const Request& request, holdfast::StepContext& context) {
    if (context.attempt() == 1) throw holdfast::StepError("shop.busy", "ask again");
    return {request.cents};
  }
  Outcome decide(const Checked& checked, holdfast::StepContext& context) {
    const auto clerk = context.ask<Decision>(Question{"is it right?"});
    if (checked.cents < 10'000) return {clerk.is_good ? "approved" : "declined"};
    try {
      const auto manager = context.ask<Decision>(
          Question{"so much?"},
          holdfast::WaitOptions{.timeout = 72h}.where("by", std::string("manager")));
      return {manager.is_good ? "approved twice" : "declined"};
    } catch (const holdfast::WaitTimedOut&) {
      return {"nobody answered"};
    }
  }
  static auto steps() {
    return holdfast::StepsOf<Approval>()
        .step("check", &Approval::check,
              {.workers = 8,
               .retry = holdfast::Retry(holdfast::fixed(1s), holdfast::after_attempts(3)),
               .timeout = 30s})
        .step("decide", &Approval::decide)
        .timeout(24h * 30);
  }
};

struct Part {
  static constexpr std::string_view kSchema = "shop/Part@1";
  std::uint64_t n = 0;
};
struct Pair {
  static constexpr std::string_view kSchema = "shop/Pair@1";
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
struct Sums {
  static constexpr std::string_view kSchema = "shop/Sums@1";
  std::vector<std::uint64_t> all;
};

struct Pairs : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Pairs@1";
  using Events = holdfast::Events<holdfast::On<Request, &Request::id>>;
  using Stop = Sums;

  std::vector<Part> split(const Request&, holdfast::StepContext&) { return {{1}, {2}, {3}, {4}}; }
  std::optional<Pair> pair(const Part& part, holdfast::StepContext& context) {
    const auto two = context.collect(part, 2);
    if (!two) return std::nullopt;
    context.update<std::uint64_t>("pairs", [](std::uint64_t& count) { ++count; });
    return Pair{(*two)[0].n, (*two)[1].n};
  }
  Sums add(const std::vector<Pair>& pairs, holdfast::StepContext& context) {
    Sums sums;
    for (const Pair& pair : pairs) sums.all.push_back(pair.a + pair.b);
    sums.all.push_back(context.get<std::uint64_t>("pairs").value_or(0));
    return sums;
  }
  static auto steps() {
    return holdfast::StepsOf<Pairs>()
        .step("split", &Pairs::split)
        .step("pair", &Pairs::pair)
        .step("add", &Pairs::add);
  }
};

struct Order {
  static constexpr std::string_view kSchema = "shop/Order@1";
  std::string id;
};
struct Shipped {
  static constexpr std::string_view kSchema = "shop/Shipped@1";
  std::string text;
};

struct Shop : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Shop@1";
  using Events = holdfast::Events<holdfast::On<Order, &Order::id>>;
  using Stop = Shipped;
  using Children = holdfast::Children<Approval>;

  Shipped ship(const Order& order, holdfast::StepContext& context) {
    try {
      return {context.run<Approval>(Request{order.id + "/approval", 500}, {.timeout = 24h}).text};
    } catch (const holdfast::ChildCancelled& cancelled) {  // before ChildFailed, which it is too
      return {"cancelled"};
    } catch (const holdfast::ChildFailed& failed) {
      return {failed.code};
    } catch (const holdfast::WaitTimedOut&) {
      return {"took too long"};
    }
  }
  static auto steps() { return holdfast::StepsOf<Shop>().step("ship", &Shop::ship); }
};

template <class W>
std::string text_of(testing::World& world, const std::string& key) {
  const auto run = world.query<W>(key);
  if (!run) return run.error().message;
  if (run->error) return run->error->code;
  if (!run->has_ended()) return run->state.status;
  return run->template result_as<typename W::Stop>()->text;
}

TEST(StepsPage, a_person_decides_and_a_manager_too) {
  auto world = testing::World::open({Module::of<Approval>("shop/code@1")},
                                    step_handlers(std::make_shared<Approval>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Request{"r", 20'000}));
  // Before anybody asks: the run is busy, as a step is to be tried again.
  ASSERT_TRUE((*world)->send(Decision{"r", "clerk", true}));
  ASSERT_TRUE((*world)->send(Decision{"r", "clerk", false}));
  (*world)->advance(1s);
  EXPECT_EQ(text_of<Approval>(**world, "r"), "idle");
  ASSERT_TRUE((*world)->send(Decision{"r", "manager", true}));
  EXPECT_EQ(text_of<Approval>(**world, "r"), "approved twice");
  std::vector<std::string> unhandled;
  for (const StepEntry& entry : (*world)->stream<Approval>("r")) {
    if (entry.kind == "unhandled") unhandled.push_back(entry.as<Decision>()->by);
  }
  EXPECT_EQ(unhandled, std::vector<std::string>{"clerk"}) << "the second, which no wait was for";
}

TEST(StepsPage, nobody_answers) {
  auto world = testing::World::open({Module::of<Approval>("shop/code@1")},
                                    step_handlers(std::make_shared<Approval>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Request{"r", 20'000}));
  (*world)->advance(1s);
  ASSERT_TRUE((*world)->send(Decision{"r", "clerk", true}));
  (*world)->advance(72h);
  EXPECT_EQ(text_of<Approval>(**world, "r"), "nobody answered");
  ASSERT_TRUE((*world)->send(Request{"s", 1}));
  (*world)->advance(24h * 31);
  EXPECT_EQ(text_of<Approval>(**world, "s"), "steps.timed_out");
  const auto sent = (*world)->send(Decision{"never", "clerk", true});
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->deliveries, 1U) << "it was given to a run that is not there";
  EXPECT_FALSE((*world)->query<Approval>("never"));
}

TEST(StepsPage, parts_are_collected_in_pairs) {
  auto world = testing::World::open({Module::of<Pairs>("shop/code@1")},
                                    step_handlers(std::make_shared<Pairs>()));
  ASSERT_TRUE(world) << world.error().message;
  ASSERT_TRUE((*world)->send(Request{"p", 0}));
  const auto run = (*world)->query<Pairs>("p");
  ASSERT_TRUE(run);
  const auto sums = run->result_as<Sums>();
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->all, (std::vector<std::uint64_t>{3, 7, 2}));
}

TEST(StepsPage, a_child_completes_fails_is_cancelled_or_takes_too_long) {
  auto handlers = step_handlers(std::make_shared<Shop>());
  for (Handler& handler : step_handlers(std::make_shared<Approval>()))
    handlers.push_back(std::move(handler));
  auto world =
      testing::World::open({Module::of<Shop, Approval>("shop/code@1")}, std::move(handlers));
  ASSERT_TRUE(world) << world.error().message;
  for (const char* id : {"good", "late", "gone"}) ASSERT_TRUE((*world)->send(Order{id}));
  ASSERT_TRUE((*world)->send(Request{"taken/approval", 1}));
  ASSERT_TRUE((*world)->send(Order{"taken"}));
  EXPECT_EQ(text_of<Shop>(**world, "taken"), "workflow.key_taken");
  (*world)->advance(1s);
  ASSERT_TRUE((*world)->send(Decision{"good/approval", "clerk", true}));
  EXPECT_EQ(text_of<Shop>(**world, "good"), "approved");
  ASSERT_TRUE((*world)->cancel<Approval>("gone/approval", "no"));
  EXPECT_EQ(text_of<Shop>(**world, "gone"), "cancelled");
  (*world)->advance(24h);
  EXPECT_EQ(text_of<Shop>(**world, "late"), "took too long");
  EXPECT_EQ((*world)->query<Approval>("late/approval")->status, InstanceStatus::kCancelled);
}

}  // namespace
}  // namespace holdfast
