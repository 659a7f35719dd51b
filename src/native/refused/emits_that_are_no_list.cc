// SPDX-License-Identifier: Apache-2.0
// refused: Emits is a holdfast::Emits<...>
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Emits = Placed;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
