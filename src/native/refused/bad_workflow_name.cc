// SPDX-License-Identifier: Apache-2.0
// refused: kWorkflow is a name of the form namespace/Name@1
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "Order";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
