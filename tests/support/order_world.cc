// SPDX-License-Identifier: Apache-2.0
// Makes a world of the demo's orders for tests, in segments so small that a few orders fill one:
// every third order is shipped, every third refused, every third waits. With `held` it then says
// "ready" and keeps the world until its standard input ends; with `dies` the journal is not closed.
//
// usage: order_world FOLDER ORDERS [held|dies|strange]     strange: code that nobody else has
#include <cstdio>
#include <string>

#include "demo/order/order.h"
#include "native/testing.h"
#include "node/testing.h"

namespace {

using namespace holdfast;
using kernel::OpenIntent;
using kernel::ReceiptStatus;

constexpr char kRefusal[] = R"({"code":"no","message":"no luck","retryable":false,"details":null})";

struct Wait {
  static constexpr std::string_view kWorkflow = "strange/Wait@1";
  struct State {};
  using Events = holdfast::Events<On<demo::OrderPlaced, &demo::OrderPlaced::id>>;
  using Effects = holdfast::Effects<>;
  using Context = holdfast::Context<Wait>;
  static void step(State&, const demo::OrderPlaced&, Context&) {}
};

class Shop {
 public:
  explicit Shop(const Module& module) : world_(module) {}

  void order(std::size_t number) {
    const std::string id = "o-" + std::to_string(number);
    opened_ = world_.bench.event("demo/OrderPlaced@1",
                                 R"({"id":")" + id + R"(","sku":"mug","count":2,"cents":1990})");
    if (number % 3 == 1) {
      answer("demo/charge@1", R"({"payment":"p-7"})");
      answer("demo/reserve@1", "{}");
      answer("demo/ship@1", R"({"tracking":"t-3"})");
    } else if (number % 3 == 2) {
      answer("demo/charge@1", kRefusal, ReceiptStatus::kError);
    }
  }

  const std::vector<base::Bytes>& records() const { return world_.bench.journal(); }

 private:
  void answer(std::string_view effect, std::string_view json,
              ReceiptStatus status = ReceiptStatus::kOk) {
    for (const kernel::Command& command : opened_.commands) {
      const auto* open = std::get_if<OpenIntent>(&command);
      if (open == nullptr || open->effect->name != effect) continue;
      opened_ = world_.bench.receipt(base::Hash(open->intent), json, status);
      return;
    }
  }

  native::testing::World world_;
  kernel::Outcome opened_;
};

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3 || argc == 4);
  const std::string how = argc == 4 ? argv[3] : "";
  const Module strange = Module::of<Wait>("strange/code@1");
  Shop shop(how == "strange" ? strange : demo::order_module());
  const std::size_t orders = std::stoul(argv[2]);
  for (std::size_t i = 1; i <= orders; ++i) shop.order(i);
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  auto world =
      store::testing::open_world(*disk, *random, argv[1], store::testing::small_segments()).take();
  node::testing::append_records(world->journal(), shop.records()).take();
  if (how == "held") {
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) continue;
  }
  if (how != "dies") world->journal().close().take();
}
