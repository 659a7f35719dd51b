// SPDX-License-Identifier: Apache-2.0
// refused: each struct in a std::variant needs a kSchema
#include "native/refused/types.h"

struct Cash {};
struct Card {};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::variant<Cash, Card> payment;
  };
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
