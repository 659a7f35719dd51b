// SPDX-License-Identifier: Apache-2.0
// A worker whose tasks are functions of this program. A graph whose nodes have the taskType `price`
// or `total` is run by it.
//
//   task_worker http://127.0.0.1:7411 DIR     until SIGTERM or SIGINT
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/worker.h"

struct Order {
  std::string sku;
  std::uint64_t count = 1;
};
struct Price {
  std::uint64_t cents = 0;
};
struct Prices {
  std::vector<Price> prices;
  std::optional<std::uint64_t> discount_percent;
};

Price price(const Order& order, holdfast::TaskCall& call) {
  if (order.sku.empty()) throw holdfast::TaskFailure("shop.sku", "an order needs a sku", false);
  call.log("price of " + std::to_string(order.count) + " " + order.sku);
  return {order.sku.size() * 100 * order.count};
}

// Looks now and then whether it is to stop, because it may take long.
Price total(const Prices& input, holdfast::TaskCall& call) {
  Price sum;
  for (const Price& each : input.prices) {
    if (call.stopped()) throw holdfast::TaskFailure("shop.stopped", "asked to stop");
    sum.cents += each.cents;
    call.progress(sum);
  }
  sum.cents -= sum.cents * input.discount_percent.value_or(0) / 100;
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: task_worker URL DIR\n");
    return 2;
  }
  holdfast::WorkerOptions options;
  options.server = argv[1];
  options.dir = argv[2];
  options.slots = 4;
  options.drains_on_signals = true;
  options.log = [](std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  auto worker = holdfast::Worker::open(
      std::move(options),
      {holdfast::task<Order>("price", price), holdfast::task<Prices>("total", total)});
  if (!worker) {
    std::fprintf(stderr, "%s\n", worker.error().message.c_str());
    return 1;
  }
  const auto ran = (*worker)->run();
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().message.c_str());
  return ran ? 0 : 1;
}
