// SPDX-License-Identifier: Apache-2.0
// Opening a world of the demo's orders, all asleep, with a fresh snapshot: lock, journal, blobs,
// snapshot, restore. Prints for a small and a large world how long that takes and what memory it
// costs, with the files in the page cache and not, after an orderly end and after a death; and
// what the blobs and a collection of them cost. Each figure is of a process of its own.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "demo/order/order.h"
#include "env/hardware.h"
#include "env/posix_disk.h"
#include "folder.h"
#include "memory.h"
#include "native/machines.h"
#include "node/blob_shapes.h"
#include "node/local_world.h"
#include "values.h"

namespace {

using namespace holdfast;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kOrdersPerSnapshot = 250'000;
constexpr int kOpenings = 9;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// A world with what it is opened with.
class Shop {
 public:
  explicit Shop(const std::string& path)
      : open_(node::LocalWorld::open(*disk_, *random_, *process_, path, machines_,
                                     {.journal = {}, .world = {}, .any_file_system = true})
                  .take()) {}

  void begin(std::size_t orders) {
    const base::Bytes definitions = bench::value(definitions_of(modules_));
    run(kernel::ApplyManifest{definitions});
    for (std::size_t i = 1; i <= orders; ++i) {
      const base::Bytes placed = bench::order_placed("order-" + std::to_string(i));
      run(kernel::EventArrived{"demo/OrderPlaced@1", placed, {}});
      if (i % kOrdersPerSnapshot == 0 || i == orders) put_away();
    }
    put_away();  // so that both snapshots that are kept are of the same orders
  }
  void close() { open_->journal().close().take(); }
  node::LocalWorld& open() { return *open_; }

 private:
  void run(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = open_->world().next_record() * 1000;
    tick.input = input;
    kernel::Outcome outcome = open_->world().reduce(tick);
    CHECK(std::holds_alternative<kernel::Accepted>(outcome.answer) && !outcome.failure);
    records_.push_back(std::move(outcome.record));
    if (records_.size() == kBatch) commit();
  }
  void commit() {
    if (records_.empty()) return;
    open_->journal().append(std::vector<base::ByteView>(records_.begin(), records_.end())).take();
    open_->journal().sync().take();
    open_->journal().prepare().take();
    records_.clear();
  }
  void put_away() {
    commit();
    open_->take_snapshot(0).take();
  }

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::vector<Module> modules_{demo::order_module()};
  native::Machines machines_{modules_};
  std::unique_ptr<node::LocalWorld> open_;
  std::vector<base::Bytes> records_;
};

// What a process of its own comes to.
struct Figures {
  double ms = 0;
  double bytes = 0;
  std::uint64_t count = 0;
};
Figures apart(const std::function<Figures()>& work) {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    const Figures figures = work();
    const bool told = ::write(ends[1], &figures, sizeof figures) == sizeof figures;
    ::_exit(told ? 0 : 1);  // as a process dies: nothing is put in order
  }
  Figures figures;
  CHECK(::read(ends[0], &figures, sizeof figures) == sizeof figures);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child && status == 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return figures;
}

// The next reading comes from the device.
void forget_files(const std::string& path) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY);
    CHECK(file >= 0 && ::fdatasync(file) == 0);
    CHECK(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    ::close(file);
  }
}

Figures open_once(const std::string& path, std::size_t orders, bool in_order) {
  const std::size_t before = bench::own_memory();
  const auto begin = Clock::now();
  auto shop = std::make_unique<Shop>(path);
  Figures figures;
  figures.ms = ms_since(begin);
  figures.bytes = static_cast<double>(bench::own_memory() - before);
  figures.count = shop->open().world().open_intents();
  CHECK(shop->open().restoring().snapshot.has_value() && shop->open().restoring().replayed == 0);
  // One that nobody looked at since it was put away.
  const base::Bytes key = bench::value("\"order-" + std::to_string(orders / 3) + "\"");
  CHECK(*shop->open().world().find("demo/Order@1", key) != nullptr);
  if (in_order) {
    shop->close();
    shop.reset();
  }
  return figures;
}

// The median of several openings, each of which leaves the world as the next one is to find it.
Figures open_many(const std::string& path, std::size_t orders, bool in_order, bool cached) {
  const auto once = [&] { return open_once(path, orders, in_order); };
  apart(once);
  std::vector<Figures> all;
  for (int i = 0; i < kOpenings; ++i) {
    if (!cached) forget_files(path);
    all.push_back(apart(once));
  }
  std::ranges::sort(all, {}, &Figures::ms);
  return all[kOpenings / 2];
}

// What a collection of what earlier snapshots left costs.
Figures collect(const std::string& path) {
  Shop shop(path);
  const std::size_t before = bench::own_memory();
  const auto begin = Clock::now();
  auto gc = store::BlobGc::begin(shop.open().blobs(), shop.open().snapshots(), node::blob_shapes())
                .take();
  store::GcProgress progress;
  while (!progress.done) progress = gc->step(1000).take();
  Figures figures;
  figures.ms = ms_since(begin);
  figures.bytes = static_cast<double>(bench::own_memory()) - static_cast<double>(before);
  figures.count = progress.looked_at;
  return figures;
}

std::int64_t ask(Shop& shop, const std::string& sql) {
  auto statement = shop.open().blobs().database().prepare(sql).take();
  CHECK(statement.step().take());
  return statement.number(0);
}

// How many blobs there are, and what they take on disk.
Figures blobs_on_disk(const std::string& path) {
  Shop shop(path);
  Figures figures;
  figures.count = shop.open().blobs().count().take();
  const std::int64_t pages = ask(shop, "PRAGMA page_count") - ask(shop, "PRAGMA freelist_count");
  figures.bytes = static_cast<double>(pages * ask(shop, "PRAGMA page_size"));
  return figures;
}
Figures bytes_of_blobs(const std::string& path) {
  Shop shop(path);
  return {0, static_cast<double>(ask(shop, "SELECT sum(length(bytes)) FROM blobs")), 0};
}

void measure(std::size_t orders) {
  const bench::Folder folder;
  const std::string path = folder.path() + "/world";
  apart([&] {
    Shop shop(path);
    shop.begin(orders);
    return Figures();
  });
  std::printf("\n%zu orders\n", orders);
  const auto after_snapshot = apart([&] { return open_once(path, orders, false); });
  std::printf("  to open, died right after the snapshot: %.1f ms\n", after_snapshot.ms);
  const Figures collected = apart([&] { return collect(path); });
  std::printf("  collection: %.0f ms for %zu blobs, %.2f MiB of memory\n", collected.ms,
              static_cast<std::size_t>(collected.count), collected.bytes / (1 << 20));
  const Figures on_disk = apart([&] { return blobs_on_disk(path); });
  const Figures themselves = apart([&] { return bytes_of_blobs(path); });
  const auto each = [&](double bytes) { return bytes / static_cast<double>(orders); };
  std::printf("  blobs: %zu, %.0f bytes an order, %.0f on disk\n",
              static_cast<std::size_t>(on_disk.count), each(themselves.bytes), each(on_disk.bytes));
  for (const bool in_order : {true, false}) {
    for (const bool cached : {true, false}) {
      const Figures figures = open_many(path, orders, in_order, cached);
      std::printf("  to open, %s, %s: %.1f ms, %.2f MiB of memory\n",
                  in_order ? "closed before" : "died before", cached ? "cached" : "not cached",
                  figures.ms, figures.bytes / (1 << 20));
    }
  }
}

}  // namespace

int main() {
  std::printf("%s; medians of %d openings\n", env::hardware().c_str(), kOpenings);
  for (const std::size_t orders : {std::size_t{10'000}, std::size_t{1'000'000}}) measure(orders);
}
