// SPDX-License-Identifier: Apache-2.0
// The history of a world of orders: making the index of instances, asking it, and looking up
// records by their number; and what one more line of text costs the index. HOLDFAST_BENCH_FOLDER
// names the folder to write in; the temporary folder else.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>

#include "codec/normaliser.h"
#include "demo/order/order.h"
#include "folder.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "native/machines.h"
#include "node/history_feed.h"
#include "node/timeline.h"
#include "store/record_at.h"
#include "store/testing.h"

namespace {

using namespace holdfast;

constexpr std::size_t kOrders = 50'000;
constexpr std::size_t kRecords = 1 + 2 * kOrders;  // each is placed, and cancelled
constexpr std::size_t kBatch = 64;

base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json).take();
  return {made.begin(), made.end()};
}

// Reduces ticks, and appends their records in batches.
class Writer {
 public:
  explicit Writer(store::Journal& journal)
      : modules_{demo::order_module()},
        machines_(modules_),
        world_(machines_, blobs_),
        journal_(journal) {
    const base::Bytes definitions = value(definitions_of(modules_));
    run(kernel::ApplyManifest{definitions});
  }

  void event(std::string_view schema, std::string_view json) {
    const base::Bytes bytes = value(json);
    run(kernel::EventArrived{schema, bytes, {}});
  }
  void flush() {
    if (batch_.empty()) return;
    const std::vector<base::ByteView> views(batch_.begin(), batch_.end());
    journal_.append(views).take();
    journal_.sync().take();
    batch_.clear();
  }

 private:
  void run(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = world_.next_record() * 1'000'000;
    tick.input = input;
    const kernel::Outcome outcome = world_.reduce(tick);
    batch_.emplace_back(outcome.record.begin(), outcome.record.end());
    if (batch_.size() == kBatch) flush();
  }

  const std::vector<Module> modules_;
  const native::Machines machines_;
  kernel::testing::MemoryBlobs blobs_;
  kernel::World world_;
  store::Journal& journal_;
  std::vector<base::Bytes> batch_;
};

struct Orders {
  bench::Folder folder;
  std::unique_ptr<env::Disk> disk = env::posix_disk();
  std::unique_ptr<env::Random> random = env::posix_random();
  std::unique_ptr<store::testing::OpenWorld> world;

  Orders() {
    reopen();
    Writer writer(world->journal());
    for (std::size_t i = 0; i < kOrders; ++i)
      writer.event("demo/OrderPlaced@1",
                   R"({"id":"o-)" + std::to_string(i) + R"(","sku":"mug","count":2,"cents":1990})");
    for (std::size_t i = 0; i < kOrders; ++i)
      writer.event("demo/OrderCancelled@1", R"({"id":"o-)" + std::to_string(i) + R"("})");
    writer.flush();
    CHECK(world->journal().last() == kRecords);
  }
  void reopen() {
    world.reset();
    world = store::testing::open_world(*disk, *random, folder.path() + "/world", {}).take();
  }

  static Orders& get() {
    static Orders orders;
    return orders;
  }
};

void rebuild(benchmark::State& state) {
  Orders& orders = Orders::get();
  for (auto _ : state) node::rebuild_history(orders.world->folder, orders.world->journal()).take();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRecords));
  state.counters["bytes/instance"] = static_cast<double>(
      std::filesystem::file_size(orders.folder.path() + "/world/history.db") / kOrders);
}
BENCHMARK(rebuild)->Unit(benchmark::kMillisecond)->Iterations(3);

// A page of 50, from somewhere.
void list(benchmark::State& state) {
  Orders& orders = Orders::get();
  auto index = store::HistoryIndex::open(orders.world->folder).take();
  std::mt19937_64 choose(1);
  for (auto _ : state) {
    const auto page = index
                          ->list({.workflow = "demo/Order@1",
                                  .status = "waiting",
                                  .after = 100 + choose() % (kOrders - 100)})
                          .take();
    CHECK(page.rows.size() == 50);
  }
}
BENCHMARK(list)->Unit(benchmark::kMicrosecond);

// Into segments that nobody has looked into since the journal was opened.
void first_look(benchmark::State& state) {
  Orders& orders = Orders::get();
  std::mt19937_64 choose(2);
  for (auto _ : state) {
    state.PauseTiming();
    orders.reopen();
    const store::RecordNumber number = 1 + choose() % kRecords;
    state.ResumeTiming();
    benchmark::DoNotOptimize(store::record_at(orders.world->journal(), number).take());
  }
}
BENCHMARK(first_look)->Unit(benchmark::kMicrosecond)->Iterations(50);

void later_look(benchmark::State& state) {
  Orders& orders = Orders::get();
  std::mt19937_64 choose(3);
  for (int i = 0; i < 100; ++i)
    store::record_at(orders.world->journal(), 1 + choose() % kRecords).take();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        store::record_at(orders.world->journal(), 1 + choose() % kRecords).take());
}
BENCHMARK(later_look)->Unit(benchmark::kMicrosecond);

// A record that adds one line to what its instance has said, when it has said so much already.
void one_more_line(benchmark::State& state) {
  constexpr std::size_t kInstances = 256;
  bench::Folder folder;
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto world =
      store::testing::open_world(*disk, *random, folder.path() + "/world", {}).take();
  const auto index = store::HistoryIndex::open(world->folder).take();
  store::RecordNumber record = 0;
  std::vector<store::RecordNumber> last(kInstances);
  const auto add_a_line_to_each = [&] {
    store::HistoryBatch batch;
    for (std::size_t i = 0; i < kInstances; ++i) {
      store::InstanceChange change;
      change.workflow = "demo/Order@1";
      change.key_text = "o-" + std::to_string(i);
      change.key.assign(change.key_text.begin(), change.key_text.end());
      change.record = ++record;
      change.previous = std::exchange(last[i], record);
      change.status = "running";
      change.annotations = {R"({"note":"what step )" + std::to_string(record) +
                            R"( of the run said"})"};
      batch.add(std::move(change));
    }
    index->apply(batch, record, {}).take();
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) add_a_line_to_each();
  for (auto _ : state) add_a_line_to_each();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kInstances));
}
BENCHMARK(one_more_line)
    ->Unit(benchmark::kMillisecond)
    ->Arg(10)
    ->Arg(1'000)
    ->Arg(2'000)
    ->Iterations(100);

}  // namespace
