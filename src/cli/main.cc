// SPDX-License-Identifier: Apache-2.0
#include "holdfast/main.h"

#include "demo/order/order.h"
#include "demo/order/shop.h"

int main(int argc, char** argv) {
  return holdfast::main(
      argc, argv,
      {.modules = {demo::order_module()},
       .handlers = demo::shop_handlers(),
       .play = demo::place_orders,
       .worth_a_look = {"/v1/instances/demo/Order@1/o-1", "/v1/instances/demo/Order@1/o-3/timeline",
                        "/v1/journal?limit=5"}});
}
