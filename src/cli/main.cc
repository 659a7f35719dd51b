// SPDX-License-Identifier: Apache-2.0
#include "holdfast/main.h"

#include <utility>
#include <vector>

#include "demo/order/order.h"
#include "demo/order/shop.h"
#include "demo/refund/refund.h"
#include "store/sqlite.h"

namespace {

std::vector<holdfast::Handler> handlers() {
  std::vector<holdfast::Handler> all = demo::shop_handlers();
  for (holdfast::Handler& handler : demo::refund_handlers()) all.push_back(std::move(handler));
  return all;
}

// Of twenty pieces nineteen are orders; what asks a person comes once a minute at five a second.
holdfast::Result<holdfast::Done> play_one(holdfast::Engine& engine, std::uint64_t number) {
  return number % 20 == 7 ? demo::request_refund(engine, number)
                          : demo::place_order(engine, number);
}

}  // namespace

int main(int argc, char** argv) {
  holdfast::store::use_sqlite_alone();
  return holdfast::main(
      argc, argv,
      {.modules = {demo::order_module(), demo::refund_module()},
       .handlers = handlers(),
       .play = demo::place_orders,
       .play_on = demo::request_refunds,
       .play_one = play_one,
       .worth_a_look = {"/v1/instances/demo/Order@1/o-1", "/v1/instances/demo/Order@1/o-3/timeline",
                        "/v1/instances/demo/RefundCase@1/r-2/why",
                        "/v1/instances/demo/RefundCase@1/r-2/graph?format=mermaid",
                        "/v1/journal?limit=5"}});
}
