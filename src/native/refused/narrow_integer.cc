// SPDX-License-Identifier: Apache-2.0
// refused: an integer in a value has 64 bits; use std::int64_t or std::uint64_t
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::vector<int> counts;
  };
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
