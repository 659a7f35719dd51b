// SPDX-License-Identifier: Apache-2.0
#include "holdfast/main.h"

#include "demo/order/order.h"

int main(int argc, char** argv) { return holdfast::main(argc, argv, {demo::order_module()}); }
