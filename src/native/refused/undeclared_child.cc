// SPDX-License-Identifier: Apache-2.0
// refused: a workflow runs only what its Children name
#include "native/refused/types.h"

struct Invoice {
  static constexpr std::string_view kWorkflow = "shop/Invoice@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Invoice>&) {}
};
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<holdfast::RunWorkflow>;
  static void step(State&, const Placed& placed, holdfast::Context<Order>& context) {
    context.run<Invoice>(placed);
  }
  static void step(State&, const holdfast::Received<holdfast::RunWorkflow>&,
                   holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order, Invoice>("shop/code@1");
