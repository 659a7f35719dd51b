// SPDX-License-Identifier: Apache-2.0
// refused: the workflow has no 'static void step(State&, const Event&, Context<Workflow>&)'
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
