// SPDX-License-Identifier: Apache-2.0
// refused: all events of a workflow carry its key, and the keys are of one type
#include "native/refused/types.h"

struct Paid {
  static constexpr std::string_view kSchema = "shop/Paid@1";
  std::uint64_t order = 0;
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events =
      holdfast::Events<holdfast::On<Placed, &Placed::id>, holdfast::On<Paid, &Paid::order>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
  static void step(State&, const Paid&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
