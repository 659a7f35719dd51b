// SPDX-License-Identifier: Apache-2.0
// refused: a key is a std::int64_t, std::uint64_t, std::string, Uuid or Hash
#include "native/refused/types.h"

struct Numbered {
  static constexpr std::string_view kSchema = "shop/Numbered@1";
  unsigned id = 0;
};

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Numbered, &Numbered::id>>;
  static void step(State&, const Numbered&, holdfast::Context<Order>&) {}
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
