// SPDX-License-Identifier: Apache-2.0
// refused: a workflow opens only what its Effects name
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>& context) {
    context.open<Charge>({.cents = 5});
  }
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
