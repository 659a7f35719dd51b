// SPDX-License-Identifier: Apache-2.0
// refused: kEffect is a name of the form namespace/name@1
#include "native/refused/types.h"

struct Refund {
  static constexpr std::string_view kEffect = "shop/refund";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("payments");
  struct Params {};
  struct Receipt {};
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<Refund>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
  static void step(State&, const holdfast::Received<Refund>&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
