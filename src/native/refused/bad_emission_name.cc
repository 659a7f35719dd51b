// SPDX-License-Identifier: Apache-2.0
// refused: kSchema is a name of the form namespace/Name@1
#include "native/refused/types.h"

struct Shipped {
  static constexpr std::string_view kSchema = "Shop/Shipped@1";
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Emits = holdfast::Emits<Shipped>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
