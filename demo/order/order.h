// SPDX-License-Identifier: Apache-2.0
// The demo: an order is charged, reserved and shipped. When a step fails, the customer cancels, or
// the deadline passes, what was done is undone, in reverse. The steps are in order.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/module.h"
#include "holdfast/workflow.h"

namespace demo {

struct OrderPlaced {
  static constexpr std::string_view kSchema = "demo/OrderPlaced@1";
  std::string id;
  std::string sku;
  std::uint64_t count = 1;
  std::uint64_t cents = 0;
};

struct OrderCancelled {
  static constexpr std::string_view kSchema = "demo/OrderCancelled@1";
  std::string id;
};

struct Charge {
  static constexpr std::string_view kEffect = "demo/charge@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("payments");
  struct Params {
    std::string order;
    std::uint64_t cents = 0;
  };
  struct Receipt {
    std::string payment;
  };
};

// Gives back what was charged for the order, if anything was.
struct Refund {
  static constexpr std::string_view kEffect = "demo/refund@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("payments");
  struct Params {
    std::string order;
  };
  struct Receipt {};
};

struct Reserve {
  static constexpr std::string_view kEffect = "demo/reserve@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("warehouse");
  struct Params {
    std::string order;
    std::string sku;
    std::uint64_t count = 1;
  };
  struct Receipt {};
};

// Puts back what was reserved for the order, if anything was.
struct Release {
  static constexpr std::string_view kEffect = "demo/release@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("warehouse");
  struct Params {
    std::string order;
  };
  struct Receipt {};
};

struct Ship {
  static constexpr std::string_view kEffect = "demo/ship@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("shipping");
  struct Params {
    std::string order;
  };
  struct Receipt {
    std::string tracking;
  };
};

// What a completed order leaves.
struct Shipped {
  std::string payment;
  std::string tracking;
};

enum class Stage : std::uint8_t { charging, reserving, shipping, releasing, refunding };

struct Order {
  static constexpr std::string_view kWorkflow = "demo/Order@1";

  struct State {
    Stage stage = Stage::charging;
    std::string sku;
    std::uint64_t count = 0;
    std::string payment;
    std::string problem;  // why the order is being undone; empty while all is well
  };

  using Events = holdfast::Events<holdfast::On<OrderPlaced, &OrderPlaced::id>,
                                  holdfast::On<OrderCancelled, &OrderCancelled::id>>;
  using Effects = holdfast::Effects<Charge, Refund, Reserve, Release, Ship, holdfast::Timer>;
  using Context = holdfast::Context<Order>;

  template <class Effect>
  using Received = holdfast::Received<Effect>;

  static void step(State& order, const OrderPlaced& placed, Context& context);
  static void step(State& order, const Received<Charge>& charged, Context& context);
  static void step(State& order, const Received<Reserve>& reserved, Context& context);
  static void step(State& order, const Received<Ship>& shipped, Context& context);

  static void step(State& order, const OrderCancelled& cancelled, Context& context);
  static void step(State& order, const Received<holdfast::Timer>& deadline, Context& context);
  static void step(State& order, const Received<Release>& released, Context& context);
  static void step(State& order, const Received<Refund>& refunded, Context& context);
};

// The order workflow, ready to run: its code and its definitions.
holdfast::Module order_module();

}  // namespace demo
