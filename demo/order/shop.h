// SPDX-License-Identifier: Apache-2.0
// The shop around the demo's orders: what charges, reserves and ships, for as long as nobody real
// does; and a few customers.
#pragma once

#include <vector>

#include "holdfast/engine.h"
#include "holdfast/handler.h"

namespace demo {

// Charges up to 1000.00, has everything in stock but unicorns, and ships it.
std::vector<holdfast::Handler> shop_handlers();

// Five orders, the same each time: placed once, however often this is called.
holdfast::Result<holdfast::Done> place_orders(holdfast::Engine& engine);

// One more, of many: most are shipped, some want what is not there or cost too much.
holdfast::Result<holdfast::Done> place_order(holdfast::Engine& engine, std::uint64_t number);

}  // namespace demo
