// SPDX-License-Identifier: Apache-2.0
#include "demo/order/order.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "native/testing.h"

namespace demo {
namespace {

using holdfast::base::Hash;
using holdfast::kernel::Accepted;
using holdfast::kernel::Cell;
using holdfast::kernel::OpenIntent;
using holdfast::kernel::Outcome;
using holdfast::kernel::ReceiptStatus;
using holdfast::kernel::Status;
using holdfast::kernel::StopIntent;
using holdfast::kernel::testing::json_of;
using holdfast::kernel::testing::value;

constexpr char kError[] = R"({"code":"no","message":"no luck","retryable":false,"details":null})";

// A world in which people order things, and we are all the workers.
class Shop {
 public:
  explicit Shop(bool puts_away) : puts_away_(puts_away) {}

  const std::vector<holdfast::base::Bytes>& journal() const { return world_.bench.journal(); }
  void expect_replays() { world_.bench.expect_replays(); }

  Outcome place(std::string_view id = "o-1") {
    return event("demo/OrderPlaced@1",
                 R"({"id":")" + std::string(id) + R"(","sku":"mug","count":2,"cents":1990})");
  }
  Outcome cancel() { return event("demo/OrderCancelled@1", R"({"id":"o-1"})"); }

  void answer(std::string_view effect, std::string_view receipt) {
    settle(effect, receipt, ReceiptStatus::kOk);
  }
  void refuse(std::string_view effect, ReceiptStatus status = ReceiptStatus::kError) {
    settle(effect, kError, status);
  }
  void pass_deadline() { answer("sys/timer.set@1", R"({"delivered_at_ns":900,"key":null})"); }

  // The params of an effect that is open.
  std::string open(std::string_view effect) const {
    const auto found = open_.find(effect);
    return found == open_.end() ? "" : found->second.second;
  }
  std::size_t open_count() const { return open_.size(); }

  const Cell* order() { return *world_.bench.world().find("demo/Order@1", value(R"("o-1")")); }
  std::string outcome() { return order() == nullptr ? "" : json_of(order()->outcome); }
  std::string state() { return json_of(order()->state); }

 private:
  Outcome event(std::string_view schema, std::string_view json) {
    return keep(world_.bench.event(schema, json));
  }

  void settle(std::string_view effect, std::string_view json, ReceiptStatus status) {
    const auto found = open_.find(effect);
    ASSERT_NE(found, open_.end()) << effect << " is not open";
    const Hash intent = found->second.first;
    open_.erase(found);
    keep(world_.bench.receipt(intent, json, status));
  }

  Outcome keep(Outcome outcome) {
    for (const auto& command : outcome.commands) {
      if (const auto* opened = std::get_if<OpenIntent>(&command)) {
        EXPECT_TRUE(
            open_.emplace(opened->effect->name, std::pair(opened->intent, json_of(opened->params)))
                .second);
      } else if (const auto* stopped = std::get_if<StopIntent>(&command)) {
        std::erase_if(open_, [&](const auto& one) { return one.second.first == stopped->intent; });
      }
    }
    if (puts_away_) world_.bench.put_away();
    return outcome;
  }

  bool puts_away_;
  holdfast::native::testing::World world_{order_module()};
  std::map<std::string, std::pair<Hash, std::string>, std::less<>> open_;
};

// Runs a story twice, the second time with the world put away and taken out after every tick: both
// must tell the same, and so must a replay.
void tell(const std::function<void(Shop&)>& story) {
  Shop plain(false);
  story(plain);
  plain.expect_replays();
  Shop careful(true);
  story(careful);
  EXPECT_EQ(careful.journal(), plain.journal());
}

std::string failed(std::string_view code, std::string_view message) {
  return R"({"code":")" + std::string(code) + R"(","details":null,"message":")" +
         std::string(message) + R"(","retryable":false})";
}

void expect_undone(Shop& shop, std::string_view problem) {
  EXPECT_EQ(shop.outcome(), failed(problem, "the order was undone"));
  EXPECT_EQ(shop.order()->status(), Status::kFailed);
  EXPECT_EQ(shop.open_count(), 0u);
}

TEST(Order, an_order_is_charged_reserved_and_shipped) {
  tell([](Shop& shop) {
    shop.place();
    EXPECT_EQ(shop.open("demo/charge@1"), R"({"cents":1990,"order":"o-1"})");
    EXPECT_EQ(shop.open("sys/timer.set@1"), R"({"key":null,"deliver_at_ns":902000000000})");
    EXPECT_EQ(shop.state(),
              R"({"sku":"mug","why":"","paid":"","count":2,"stage":{"$tag":"charge"}})");
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    EXPECT_EQ(shop.open("demo/reserve@1"), R"({"sku":"mug","count":2,"order":"o-1"})");
    shop.answer("demo/reserve@1", "{}");
    EXPECT_EQ(shop.open("demo/ship@1"), R"({"order":"o-1"})");
    shop.answer("demo/ship@1", R"({"tracking":"t-3"})");
    EXPECT_EQ(shop.outcome(), R"({"payment":"p-7","tracking":"t-3"})");
    EXPECT_EQ(shop.order()->status(), Status::kCompleted);
    EXPECT_EQ(shop.open_count(), 0u) << "the deadline is called off";
  });
}

TEST(Order, a_refused_charge_ends_the_order_with_nothing_to_undo) {
  tell([](Shop& shop) {
    shop.place();
    shop.refuse("demo/charge@1");
    EXPECT_EQ(shop.outcome(), failed("not_charged", "no luck"));
    EXPECT_EQ(shop.state(),
              R"({"sku":"mug","why":"not_charged","paid":"","count":2,"stage":{"$tag":"charge"}})");
    EXPECT_EQ(shop.open_count(), 0u);
  });
}

TEST(Order, a_charge_that_nobody_knows_of_is_refunded) {
  tell([](Shop& shop) {
    shop.place();
    shop.refuse("demo/charge@1", ReceiptStatus::kTimeout);
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "not_charged");
  });
}

TEST(Order, a_refused_reservation_is_refunded) {
  tell([](Shop& shop) {
    shop.place();
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    shop.refuse("demo/reserve@1");
    EXPECT_EQ(shop.open("demo/release@1"), "") << "nothing was reserved";
    EXPECT_EQ(shop.open("demo/refund@1"), R"({"order":"o-1"})");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "not_reserved");
  });
}

TEST(Order, a_reservation_that_nobody_knows_of_is_released_and_refunded) {
  tell([](Shop& shop) {
    shop.place();
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    shop.refuse("demo/reserve@1", ReceiptStatus::kTimeout);
    shop.answer("demo/release@1", "{}");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "not_reserved");
  });
}

void bring_to_shipping(Shop& shop) {
  shop.place();
  shop.answer("demo/charge@1", R"({"payment":"p-7"})");
  shop.answer("demo/reserve@1", "{}");
}

TEST(Order, a_refused_shipment_is_released_then_refunded) {
  tell([](Shop& shop) {
    bring_to_shipping(shop);
    shop.refuse("demo/ship@1");
    EXPECT_EQ(shop.open("demo/refund@1"), "") << "one after the other";
    EXPECT_EQ(shop.open("demo/release@1"), R"({"order":"o-1"})");
    shop.answer("demo/release@1", "{}");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "not_shipped");
  });
}

TEST(Order, a_deadline_while_charging_waits_for_the_answer_and_refunds) {
  tell([](Shop& shop) {
    shop.place();
    shop.pass_deadline();
    EXPECT_EQ(shop.open_count(), 1u) << "only the charge is open";
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "late");
  });
}

TEST(Order, a_deadline_while_reserving_releases_and_refunds) {
  tell([](Shop& shop) {
    shop.place();
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    shop.pass_deadline();
    shop.answer("demo/reserve@1", "{}");
    shop.answer("demo/release@1", "{}");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "late");
  });
}

TEST(Order, a_deadline_or_a_cancel_while_shipping_comes_too_late) {
  tell([](Shop& shop) {
    bring_to_shipping(shop);
    shop.pass_deadline();
    shop.cancel();
    shop.answer("demo/ship@1", R"({"tracking":"t-3"})");
    EXPECT_EQ(shop.order()->status(), Status::kCompleted);
  });
}

TEST(Order, a_deadline_that_could_not_be_set_stops_nothing) {
  tell([](Shop& shop) {
    shop.place();
    shop.refuse("sys/timer.set@1");
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    EXPECT_NE(shop.open("demo/reserve@1"), "");
  });
}

TEST(Order, a_cancelled_order_is_undone_and_the_first_problem_is_the_one_it_ends_with) {
  tell([](Shop& shop) {
    shop.place();
    shop.cancel();
    shop.pass_deadline();
    shop.answer("demo/charge@1", R"({"payment":"p-7"})");
    shop.cancel();
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "cancelled");
  });
}

TEST(Order, a_cancel_of_an_unknown_order_leaves_no_trace_and_the_order_may_come_later) {
  tell([](Shop& shop) {
    shop.cancel();
    EXPECT_EQ(shop.order(), nullptr);
    shop.place();
    EXPECT_NE(shop.open("demo/charge@1"), "");
  });
}

TEST(Order, the_same_order_again_changes_nothing) {
  tell([](Shop& shop) {
    shop.place();
    const std::string before = shop.state();
    EXPECT_EQ(std::get<Accepted>(shop.place().answer).deliveries, 1u);
    EXPECT_EQ(shop.state(), before);
    EXPECT_EQ(shop.open_count(), 2u) << "one charge, one deadline";
    shop.refuse("demo/charge@1");
    EXPECT_EQ(std::get<Accepted>(shop.place().answer).ignored, 1u) << "an end is an end";
  });
}

TEST(Order, what_cannot_be_undone_is_said) {
  tell([](Shop& shop) {
    bring_to_shipping(shop);
    shop.refuse("demo/ship@1");
    shop.refuse("demo/release@1");
    shop.answer("demo/refund@1", "{}");
    expect_undone(shop, "not_released");
  });
  tell([](Shop& shop) {
    bring_to_shipping(shop);
    shop.refuse("demo/ship@1");
    shop.answer("demo/release@1", "{}");
    shop.refuse("demo/refund@1");
    EXPECT_EQ(shop.outcome(), failed("not_refunded", "no luck"));
  });
}

TEST(Order, orders_do_not_disturb_each_other) {
  tell([](Shop& shop) {
    shop.place();
    shop.refuse("demo/charge@1");
    const std::string before = shop.outcome();
    shop.place("o-2");
    shop.answer("demo/charge@1", R"({"payment":"p-8"})");
    EXPECT_EQ(shop.open("demo/reserve@1"), R"({"sku":"mug","count":2,"order":"o-2"})");
    EXPECT_EQ(shop.outcome(), before);
  });
}

TEST(Order, states_and_params_stay_small) {
  Shop shop(false);
  shop.place();
  EXPECT_LT(shop.order()->state.size(), 80u);
  EXPECT_LT(value(shop.open("demo/charge@1")).size(), 30u);
}

}  // namespace
}  // namespace demo
