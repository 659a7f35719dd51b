// SPDX-License-Identifier: Apache-2.0
// refused: a workflow needs kWorkflow
#include "native/refused/types.h"

struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
};

const auto module = holdfast::Module::of<Order>("shop/code@1");
