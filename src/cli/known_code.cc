// SPDX-License-Identifier: Apache-2.0
#include "cli/known_code.h"

#include "demo/order/order.h"

namespace holdfast::cli {

native::Machines known_code() {
  const Module modules[] = {demo::order_module()};
  return native::Machines(modules);
}

}  // namespace holdfast::cli
