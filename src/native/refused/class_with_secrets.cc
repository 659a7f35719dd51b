// SPDX-License-Identifier: Apache-2.0
// refused: this type cannot be part of a value; use bool,
#include "native/refused/types.h"

class Money {
 public:
  explicit Money(std::uint64_t cents = 0) : cents_(cents) {}

 private:
  std::uint64_t cents_;
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    Money money;
  };
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
  static void step(State&, const Placed&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
