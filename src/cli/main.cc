// SPDX-License-Identifier: Apache-2.0
#include "holdfast/main.h"

#include <utility>
#include <vector>

#include "demo/order/order.h"
#include "demo/order/shop.h"
#include "demo/refund/refund.h"

namespace {

std::vector<holdfast::Handler> handlers() {
  std::vector<holdfast::Handler> all = demo::shop_handlers();
  for (holdfast::Handler& handler : demo::refund_handlers()) all.push_back(std::move(handler));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return holdfast::main(
      argc, argv,
      {.modules = {demo::order_module(), demo::refund_module()},
       .handlers = handlers(),
       .play = demo::place_orders,
       .play_on = demo::request_refunds,
       .worth_a_look = {"/v1/instances/demo/Order@1/o-1", "/v1/instances/demo/Order@1/o-3/timeline",
                        "/v1/instances/demo/RefundCase@1/r-2/why",
                        "/v1/instances/demo/RefundCase@1/r-2/graph?format=mermaid",
                        "/v1/journal?limit=5"}});
}
