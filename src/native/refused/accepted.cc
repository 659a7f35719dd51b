// SPDX-License-Identifier: Apache-2.0
// accepted: the others are refused for what they say, not for a path that leads nowhere
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t cents = 0;
  };
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<Charge>;
  using Context = holdfast::Context<Order>;
  static void step(State&, const Placed& placed, Context& context) {
    context.open<Charge>({.cents = placed.cents});
  }
  static void step(State&, const holdfast::Received<Charge>&, Context&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
