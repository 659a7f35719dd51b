// SPDX-License-Identifier: Apache-2.0
#include "demo/order/shop.h"

#include <iterator>
#include <string>

#include "demo/order/order.h"

namespace demo {
namespace {

using holdfast::Call;
using holdfast::EffectError;
using holdfast::handle;
using holdfast::Performed;

constexpr std::uint64_t kMostCents = 100'000;

Performed<Charge> charge(const Charge::Params& params, const Call&) {
  if (params.cents > kMostCents) return EffectError{"card.declined", "the card does not have it"};
  return Charge::Receipt{"payment-" + params.order};
}

Performed<Reserve> reserve(const Reserve::Params& params, const Call&) {
  if (params.sku == "unicorn") return EffectError{"stock.empty", "there are no unicorns"};
  return Reserve::Receipt{};
}

}  // namespace

std::vector<holdfast::Handler> shop_handlers() {
  return {
      handle<Charge>(charge),
      handle<Reserve>(reserve),
      handle<Ship>([](const Ship::Params& params, const Call&) -> Performed<Ship> {
        return Ship::Receipt{"parcel-" + params.order};
      }),
      handle<Release>([](const Release::Params&, const Call&) -> Performed<Release> {
        return Release::Receipt{};
      }),
      handle<Refund>([](const Refund::Params&, const Call&) -> Performed<Refund> {
        return Refund::Receipt{};
      }),
  };
}

holdfast::Result<holdfast::Done> place_orders(holdfast::Engine& engine) {
  const OrderPlaced orders[] = {
      {.id = "o-1", .sku = "mug", .count = 2, .cents = 1990},
      {.id = "o-2", .sku = "teapot", .count = 1, .cents = 4500},
      {.id = "o-3", .sku = "unicorn", .count = 1, .cents = 9900},
      {.id = "o-4", .sku = "mug", .count = 100, .cents = 199'000},
      {.id = "o-5", .sku = "kettle", .count = 1, .cents = 3900},
  };
  for (const OrderPlaced& order : orders) {
    const std::string id = "demo-" + order.id;
    // Who comes late, after very many other events, finds the order placed all the same.
    const auto placed = engine.start<Order>(order.id, order, {.id = id});
    if (!placed && placed.error().code != holdfast::ErrorCode::kConflict) return placed.error();
  }
  return holdfast::Done{};
}

holdfast::Result<holdfast::Done> place_order(holdfast::Engine& engine, std::uint64_t number) {
  constexpr const char* kSkus[] = {"mug", "teapot", "kettle", "mug", "saucer", "unicorn", "teapot"};
  OrderPlaced order{.id = "o-" + std::to_string(number % 10'000'000),
                    .sku = kSkus[number % std::size(kSkus)],
                    .count = 1 + number % 3,
                    .cents = 990 + number % 17 * 450};
  if (number % 23 == 0) order.cents = kMostCents + 1;
  const auto placed = engine.start<Order>(order.id, order, {.id = "live-" + order.id});
  if (!placed && placed.error().code != holdfast::ErrorCode::kConflict) return placed.error();
  return holdfast::Done{};
}

}  // namespace demo
