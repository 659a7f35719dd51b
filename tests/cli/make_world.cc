// SPDX-License-Identifier: Apache-2.0
// Makes a world of the demo's orders for the tests of the command line, or adds to one: for each
// snapshot so many new orders, then the snapshot. Then says "ready", and keeps the world until its
// standard input ends.
//
// usage: make_world FOLDER ORDERS SNAPSHOTS
#include <cstdio>
#include <string>

#include "base/check.h"
#include "codec/normaliser.h"
#include "demo/order/order.h"
#include "env/posix_disk.h"
#include "native/machines.h"
#include "node/local_world.h"

namespace {

using namespace holdfast;

constexpr std::int64_t kTime = 1'700'000'000'000'000'000;

base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.from_json(codec::Schema::any(), json).take();
  return {made.begin() + 3, made.end()};
}

void run(node::LocalWorld& open, decltype(kernel::Tick::input) input) {
  kernel::Tick tick;
  tick.time_ns = open.world().next_record();
  tick.input = input;
  const kernel::Outcome outcome = open.world().reduce(tick);
  const base::ByteView record = outcome.record;
  open.journal().append({&record, 1}).take();
  open.journal().sync().take();
}

void make(const std::string& path, std::size_t orders, std::size_t snapshots) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  const std::vector<Module> modules{demo::order_module()};
  const native::Machines machines(modules);
  const auto open = node::LocalWorld::open(*disk, *random, *process, path, machines).take();
  const base::Bytes definitions = value(definitions_of(modules));
  if (open->world().next_record() == 1) run(*open, kernel::ApplyManifest{definitions});
  for (std::size_t i = 0; i < snapshots; ++i) {
    for (std::size_t order = 0; order < orders; ++order) {
      const std::string id = "order-" + std::to_string(open->world().next_record());
      const base::Bytes placed =
          value(R"({"id":")" + id + R"(","sku":"mug","count":2,"cents":1990})");
      run(*open, kernel::EventArrived{"demo/OrderPlaced@1", placed, {}});
    }
    open->take_snapshot(kTime + static_cast<std::int64_t>(open->world().next_record())).take();
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
  open->journal().close().take();
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 4);
  make(argv[1], std::stoul(argv[2]), std::stoul(argv[3]));
}
