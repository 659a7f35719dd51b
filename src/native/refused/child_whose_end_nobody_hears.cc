// SPDX-License-Identifier: Apache-2.0
// refused: the workflow has no 'static void step(State&, const holdfast::Received<Effect>&,
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
  using Children = holdfast::Children<Invoice>;
  static void step(State&, const Placed& placed, holdfast::Context<Order>& context) {
    context.run<Invoice>(placed);
  }
};

const auto module = holdfast::Module::of<Order, Invoice>("shop/code@1");
