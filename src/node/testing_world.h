// SPDX-License-Identifier: Apache-2.0
// A world of the kernel's lab on a simulated disk, that is fed, put away, damaged and opened again.
// For tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "env/process.h"
#include "env/random.h"
#include "env/sim_disk.h"
#include "kernel/testing_lab.h"
#include "node/local_world.h"

namespace holdfast::node::testing {

class LabWorldTest : public ::testing::Test {
 protected:
  // Segments are so small that a few ticks fill one.
  base::Result<std::unique_ptr<LocalWorld>> try_open() {
    open_.reset();
    return LocalWorld::open(*disk_, *random_, *process_, "./world", machines_,
                            {.journal = {.segment_bytes = 6 * 4096},
                             .world = {},
                             .collect_from_bytes = collect_from_bytes_});
  }
  void open() {
    auto opened = try_open();
    ASSERT_TRUE(opened) << opened.error().to_string();
    open_ = std::move(*opened);
  }

  // Opens a new world that has its definitions.
  void begin() {
    open();
    const base::Bytes definitions =
        kernel::testing::document(kernel::testing::lab(kernel::testing::kToKeyed));
    tick(kernel::ApplyManifest{definitions});
  }

  // Reduced, and durable in the journal.
  kernel::Outcome tick(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = ++now_s_ * 1'000'000'000;
    tick.entropy.fill(static_cast<std::uint8_t>(now_s_));
    tick.input = input;
    kernel::Outcome outcome = open_->world().reduce(tick);
    const base::ByteView record = outcome.record;
    EXPECT_TRUE(open_->journal().append({&record, 1}));
    EXPECT_TRUE(open_->journal().sync());
    return outcome;
  }
  kernel::Outcome send(std::string_view id, std::uint64_t n) {
    const base::Bytes value = kernel::testing::value(R"({"id":")" + std::string(id) + R"(","n":)" +
                                                     std::to_string(n) + "}");
    return tick(kernel::EventArrived{"lab/Go@1", value, {}});
  }
  void send_many(std::size_t count) {
    for (const std::size_t end = sent_ + count; sent_ < end;) {
      ++sent_;
      send("order-" + std::to_string(sent_), sent_);
    }
  }

  void take_snapshot() {
    const auto taken = open_->take_snapshot(static_cast<std::int64_t>(now_s_));
    ASSERT_TRUE(taken) << taken.error().to_string();
  }

  // What the world is, as bytes. Replay of the whole journal comes to the same.
  base::Bytes state() { return open_->world().snapshot().take(); }

  std::unique_ptr<env::SimDisk> disk_ = std::make_unique<env::SimDisk>();
  std::unique_ptr<env::Random> random_ = env::seeded_random(9);
  std::unique_ptr<env::Process> process_ = env::posix_process();
  kernel::testing::Step keyed_ = kernel::testing::work;
  kernel::testing::Step numbered_ = kernel::testing::keep;
  kernel::testing::Machines machines_{
      {"keyed", [this](const auto& in, auto& out) { keyed_(in, out); }},
      {"numbered", [this](const auto& in, auto& out) { numbered_(in, out); }},
      {"single", kernel::testing::keep}};
  std::unique_ptr<LocalWorld> open_;
  std::uint64_t now_s_ = 0;
  std::size_t sent_ = 0;
  std::uint64_t collect_from_bytes_ = Collector::kLeastBytes;
};

}  // namespace holdfast::node::testing
