// SPDX-License-Identifier: Apache-2.0
// Makes a world of the demo's orders for tests, or adds to one, in segments so small that a few
// orders fill one: every third order is shipped, every third refused, every third waits. With a
// number of snapshots, so many orders come before each of them.
//
// usage: order_world FOLDER ORDERS [SNAPSHOTS] [held|dies|strange|sealed|recent|wordy]
//   held: then says "ready", and keeps the world until its standard input ends
//   dies: nothing is closed
//   strange: with code that nobody else has
//   sealed: its records are signed
//   recent: of today, so that a server does not forget them at once; all others are of 1970
//   wordy: the same, with states of which records have only the hash
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "codec/normaliser.h"
#include "demo/order/order.h"
#include "env/posix_disk.h"
#include "kernel/limits.h"
#include "native/machines.h"
#include "node/local_world.h"
#include "node/sealer.h"

namespace {

using namespace holdfast;
using kernel::OpenIntent;
using kernel::ReceiptStatus;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::int64_t kSnapshotTime = 1'700'000'000'000'000'000;
constexpr std::size_t kRecordsPerBatch = 3;
constexpr char kRefusal[] = R"({"code":"no","message":"no luck","retryable":false,"details":null})";

struct Wait {
  static constexpr std::string_view kWorkflow = "strange/Wait@1";
  struct State {};
  using Events = holdfast::Events<On<demo::OrderPlaced, &demo::OrderPlaced::id>>;
  using Effects = holdfast::Effects<>;
  using Context = holdfast::Context<Wait>;
  static void step(State&, const demo::OrderPlaced&, Context&) {}
};

// In canonical form, without the tag in front.
base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json).take();
  return {made.begin(), made.end()};
}

class Shop {
 public:
  Shop(const std::string& path, Module module)
      : modules_{std::move(module)},
        machines_(modules_),
        open_(node::LocalWorld::open(
                  *disk_, *random_, *process_, path, machines_,
                  {.journal = {.segment_bytes = 6 * 4096}, .world = {}, .any_file_system = true})
                  .take()) {
    const std::uint64_t next = open_->world().next_record();
    if (next > 1) ordered_ = next;  // beyond all orders so far
    if (next == 1) run(kernel::ApplyManifest{value(definitions_of(modules_))});
  }

  // Ticks come at these times.
  void begin_at(std::uint64_t time_ns) { begin_ns_ = time_ns; }

  void be_wordy() { sku_ = std::string(2 * kernel::kMaxStateBytesInRecord, 'm'); }

  void order(std::size_t number) {
    const std::string id = "o-" + std::to_string(ordered_ + number);
    run(kernel::EventArrived{
        "demo/OrderPlaced@1",
        value(R"({"id":")" + id + R"(","sku":")" + sku_ + R"(","count":2,"cents":1990})"),
        {}});
    if (number % 3 == 1) {
      answer("demo/charge@1", R"({"payment":"p-7"})");
      answer("demo/reserve@1", "{}");
      answer("demo/ship@1", R"({"tracking":"t-3"})");
    } else if (number % 3 == 2) {
      answer("demo/charge@1", kRefusal, ReceiptStatus::kError);
    }
  }

  void take_snapshot() {
    write();
    const auto now = static_cast<std::int64_t>(open_->world().next_record());
    open_->take_snapshot(kSnapshotTime + now).take();
  }

  // What is left of a batch.
  void write() {
    if (records_.empty()) return;
    const std::vector<base::ByteView> views(records_.begin(), records_.end());
    open_->journal().append(views).take();
    open_->journal().sync().take();
    records_.clear();
  }

  void seal() { node::Sealer::open(open_->folder(), open_->journal()).take()->run().take(); }

  void close() { open_->journal().close().take(); }

 private:
  void run(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = begin_ns_ + open_->world().next_record() * kSecond;
    tick.input = std::move(input);
    last_ = open_->world().reduce(tick);
    records_.emplace_back(last_.record.begin(), last_.record.end());
    if (records_.size() == kRecordsPerBatch) write();
  }

  void answer(std::string_view effect, std::string_view json,
              ReceiptStatus status = ReceiptStatus::kOk) {
    for (const kernel::Command& command : last_.commands) {
      const auto* open = std::get_if<OpenIntent>(&command);
      if (open == nullptr || open->effect->name != effect) continue;
      kernel::ReceiptArrived receipt;
      receipt.intent = open->intent;
      receipt.status = status;
      const base::Bytes payload = value(json);
      receipt.payload = payload;
      run(receipt);
      return;
    }
  }

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  const std::vector<Module> modules_;
  const native::Machines machines_;
  std::unique_ptr<node::LocalWorld> open_;
  std::uint64_t begin_ns_ = 0;
  std::size_t ordered_ = 0;
  std::string sku_ = "mug";
  std::vector<base::Bytes> records_;
  kernel::Outcome last_;
};

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 3 && argc <= 5);
  const std::size_t orders = std::stoul(argv[2]);
  const bool has_snapshots = argc > 3 && is_number(argv[3]);
  const std::size_t snapshots = has_snapshots ? std::stoul(argv[3]) : 0;
  const int after = has_snapshots ? 4 : 3;
  const std::string how = argc > after ? argv[after] : "";
  Shop shop(argv[1], how == "strange" ? Module::of<Wait>("strange/code@1") : demo::order_module());
  if (how == "wordy") shop.be_wordy();
  if (how == "recent" || how == "wordy") {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    shop.begin_at(static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()) -
                  3600 * kSecond);
  }
  std::size_t number = 0;
  for (std::size_t round = 0; round < std::max<std::size_t>(snapshots, 1); ++round) {
    for (std::size_t i = 0; i < orders; ++i) shop.order(++number);
    if (snapshots > 0) shop.take_snapshot();
  }
  shop.write();
  if (how == "held") {
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) continue;
  }
  if (how == "dies") std::_Exit(0);
  if (how == "sealed") shop.seal();
  shop.close();
}
