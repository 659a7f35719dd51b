// SPDX-License-Identifier: Apache-2.0
// refused: an effect needs kEffect, kExecutor, Params and Receipt
#include "native/refused/types.h"

struct Refund {
  static constexpr std::string_view kEffect = "shop/refund@1";
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<Refund>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
