// SPDX-License-Identifier: Apache-2.0
// refused: an event needs a kSchema
#include "native/refused/types.h"

struct Nameless {
  std::string id;
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Emits = holdfast::Emits<Nameless>;
  static void step(State&, const Placed& placed, holdfast::Context<Order>& context) {
    context.emit(Nameless{placed.id});
  }
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
