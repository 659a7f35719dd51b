// SPDX-License-Identifier: Apache-2.0
// refused: a key is a std::int64_t, std::uint64_t, std::string, Uuid or Hash
#include "native/refused/types.h"

struct Paid {
  static constexpr std::string_view kSchema = "shop/Paid@1";
  bool order = false;
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Paid, &Paid::order>>;
  static void step(State&, const Paid&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
