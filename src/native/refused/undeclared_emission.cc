// SPDX-License-Identifier: Apache-2.0
// refused: a workflow emits only what its Emits name
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed& placed, holdfast::Context<Order>& context) {
    context.emit(placed);
  }
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
