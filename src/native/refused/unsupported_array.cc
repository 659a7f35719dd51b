// SPDX-License-Identifier: Apache-2.0
// refused: this type cannot be part of a value; use bool,
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::array<std::uint64_t, 3> cents{};
  };
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
