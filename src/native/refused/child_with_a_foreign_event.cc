// SPDX-License-Identifier: Apache-2.0
// refused: the workflow has no such event among its Events
#include "native/refused/types.h"

struct Due {
  static constexpr std::string_view kSchema = "shop/Due@1";
  std::string id;
};
struct Invoice {
  static constexpr std::string_view kWorkflow = "shop/Invoice@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Due, &Due::id>>;
  static void step(State&, const Due&, holdfast::Context<Invoice>&) {}
};
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Children = holdfast::Children<Invoice>;
  static void step(State&, const Placed& placed, holdfast::Context<Order>& context) {
    context.run<Invoice>(placed);
  }
  static void step(State&, const holdfast::Received<holdfast::RunWorkflow>&,
                   holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order, Invoice>("shop/code@1");
