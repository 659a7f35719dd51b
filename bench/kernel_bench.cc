// SPDX-License-Identifier: Apache-2.0
// One tick of the demo's order workflow: reduced, its record encoded. No journal, no sync: this is
// what the kernel costs. Prints, for worlds of different sizes, the time of each tick of an order
// beside the smallest world, and what a sleeping order costs in memory. `--once TICK ORDERS` does
// one tick inside once(), for bench/instructions to count.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#endif

#include "base/check.h"
#include "demo/order/order.h"
#include "env/hardware.h"
#include "file_blobs.h"
#include "kernel/world.h"
#include "memory.h"
#include "native/machines.h"
#include "values.h"

namespace {

using namespace holdfast;
using Clock = std::chrono::steady_clock;

constexpr const char* kTicks[] = {"placed", "charged", "reserved", "shipped"};

using bench::order_placed;
using bench::own_memory;
using bench::value;

class Shop {
 public:
  explicit Shop(std::size_t orders)
      : blobs_(orders + 500'000), machines_(modules_), world_(machines_, blobs_) {
    const base::Bytes definitions = value(definitions_of(modules_));
    run(kernel::ApplyManifest{definitions});
    for (std::size_t i = 0; i < orders; ++i) {
      place();
      // As a node would: what is done is put away now and then.
      if (i % 250'000 == 249'999) put_away();
    }
    put_away();
  }

  void place() {
    const base::Bytes placed = order_placed("order-" + std::to_string(++last_));
    run(kernel::EventArrived{"demo/OrderPlaced@1", placed, {}});
  }

  // New orders until the upper nodes of the index have been read.
  void warm() {
    for (std::size_t i = 0; i < 12'000; ++i) place();
  }

  void put_away() { CHECK(world_.snapshot().has_value()); }

  // The next tick of an order: its bytes are made before, as they come from outside.
  struct Prepared {
    base::Bytes bytes;
    base::Hash intent;
    std::string id;
  };
  Prepared prepare(std::size_t tick) {
    if (tick == 0) {
      const std::string id = "order-" + std::to_string(++last_);
      return {order_placed(id), {}, id};
    }
    const char* receipts[] = {R"({"payment":"pay-1"})", "{}", R"({"tracking":"track-1"})"};
    return {value(receipts[tick - 1]), intent_, {}};
  }
  void perform(std::size_t tick, const Prepared& prepared) {
    if (tick == 0)
      return run(kernel::EventArrived{"demo/OrderPlaced@1", prepared.bytes, prepared.id});
    run(kernel::ReceiptArrived{
        prepared.intent, kernel::ReceiptStatus::kOk, prepared.bytes, {}, {}});
  }

  std::size_t record_bytes() const noexcept { return record_bytes_; }
  std::size_t blob_bytes() const noexcept { return blobs_.bytes(); }
  std::uint64_t open_intents() const noexcept { return world_.open_intents(); }

 private:
  void run(decltype(kernel::Tick::input) input) {
    tick_.time_ns += 1'000;
    tick_.input = input;
    world_.reduce(tick_, outcome_);
    CHECK(std::holds_alternative<kernel::Accepted>(outcome_.answer) && !outcome_.failure);
    record_bytes_ = outcome_.record.size();
    for (const kernel::Command& command : outcome_.commands) {
      const auto* open = std::get_if<kernel::OpenIntent>(&command);
      if (open != nullptr && open->effect->executor.kind != "timer") intent_ = open->intent;
    }
  }

  std::vector<Module> modules_{demo::order_module()};
  bench::FileBlobs blobs_;
  native::Machines machines_;
  kernel::World world_;
  kernel::Tick tick_;
  kernel::Outcome outcome_;
  base::Hash intent_;
  std::size_t last_ = 0;
  std::size_t record_bytes_ = 0;
};

// Microseconds of each tick: the median over many orders.
std::vector<double> measure(Shop& shop) {
  constexpr std::size_t kOrders = 4000;
  shop.warm();
  std::vector<double> medians;
  std::vector<std::vector<double>> times(std::size(kTicks));
  for (std::size_t i = 0; i < kOrders; ++i) {
    for (std::size_t tick = 0; tick < std::size(kTicks); ++tick) {
      const auto prepared = shop.prepare(tick);
      const auto begin = Clock::now();
      shop.perform(tick, prepared);
      times[tick].push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
  }
  for (auto& of_tick : times) {
    std::nth_element(of_tick.begin(), of_tick.begin() + kOrders / 2, of_tick.end());
    medians.push_back(of_tick[kOrders / 2]);
  }
  return medians;
}

void compare() {
  std::printf("%s; reducer and record, no journal; medians of 4000 orders\n",
              env::hardware().c_str());
  std::printf("%-12s %10s %10s %10s %10s %18s\n", "sleeping", kTicks[0], kTicks[1], kTicks[2],
              kTicks[3], "bytes per sleeper");
  std::vector<double> smallest;
  for (const std::size_t orders : {1'000u, 1'000'000u}) {
    const std::size_t before = own_memory();
    Shop shop(orders);
    const double each = static_cast<double>(own_memory() - before) / static_cast<double>(orders);
    const std::vector<double> medians = measure(shop);
    if (smallest.empty()) smallest = medians;
    std::printf("%-12zu", orders);
    for (const double median : medians) std::printf(" %7.2f us", median);
    std::printf(" %18.0f\n%-12s", each, "  ratio");
    for (std::size_t i = 0; i < medians.size(); ++i)
      std::printf(" %9.2fx", medians[i] / smallest[i]);
    std::printf("\n");
  }
}

}  // namespace

// For bench/count_instructions.cc; nobody else notices.
void mark() { std::raise(SIGCONT); }

// What bench/instructions counts.
__attribute__((noinline)) void once(Shop& shop, std::size_t tick, const Shop::Prepared& prepared) {
  shop.perform(tick, prepared);
}

int main(int argc, char** argv) {
  if (argc != 4 || std::string_view(argv[1]) != "--once") return compare(), 0;
  const std::size_t wanted = std::stoul(argv[2]);
  Shop shop(std::stoul(argv[3]));
  shop.warm();
  CALLGRIND_START_INSTRUMENTATION;
  for (std::size_t round = 0; round < 3; ++round) {  // buffers grow in the first ones
    for (std::size_t tick = 0; tick < std::size(kTicks); ++tick) {
      const auto prepared = shop.prepare(tick);
      if (round == 2 && tick == wanted) {
        mark();
        mark();
        mark();
        once(shop, tick, prepared);
        mark();
        std::printf("%zu\t%s\n", shop.record_bytes(), kTicks[tick]);
        return 0;
      }
      shop.perform(tick, prepared);
    }
  }
  return 1;
}
