// SPDX-License-Identifier: Apache-2.0
// The loop on one thread, on a simulated disk, with an executor that is told when to give its work
// back. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "env/clock.h"
#include "node/loop.h"
#include "node/testing_world.h"

namespace holdfast::node::testing {

// Takes work, and gives it back when it is told to.
struct Hand : executors::Executor {
  void start(const kernel::OpenIntent& intent, executors::Reports& reports) override {
    held.push_back(intent.intent);
    listens = hears[intent.intent] = &reports;
  }
  bool has_room(const kernel::OpenIntent&) override { return held.size() < room; }
  std::string share_of(const kernel::OpenIntent&) const override { return share; }
  bool end_late(const base::Hash& intent) override {
    stop(intent);
    return !ends_itself;
  }
  void stop(const base::Hash& intent) override { stopped.push_back(intent); }
  void give_back() {
    const base::Bytes payload = kernel::testing::value(R"({"ok":true})");
    for (const base::Hash& intent : held) {
      kernel::ReceiptArrived receipt;
      receipt.intent = intent;
      receipt.payload = payload;
      hears.at(intent)->report(receipt);
    }
    held.clear();
  }
  std::vector<base::Hash> held;
  std::vector<base::Hash> stopped;
  std::size_t room = 1'000'000;
  std::string share;
  bool ends_itself = false;               // what is late
  executors::Reports* listens = nullptr;  // of the last one
  std::map<base::Hash, executors::Reports*> hears;
};

class LoopTest : public LabWorldTest {
 protected:
  void start(LoopOptions options = {}) {
    loop_.emplace(open_->world(), open_->journal(), clock_, *random_, Executors{{"worker", &hand_}},
                  std::move(options));
    ASSERT_TRUE(loop_->recover());
    clock_.advance_ns(1'000'000'000);
    while (loop_->has_preparing()) loop_->prepare();
  }

  // What became of an event with a long id; nothing: it was not taken, and `refusal` says why.
  std::optional<kernel::Answer> ask(std::size_t number) {
    const base::Bytes event = kernel::testing::value(R"({"id":"o-)" + std::to_string(number) +
                                                     R"(","n":)" + std::to_string(number) + "}");
    std::optional<kernel::Answer> answer;
    const auto sent = loop_->send(Input::event({"lab/Go@1", event, {}}),
                                  [&answer](const kernel::Answer& heard) { answer = heard; });
    if (!sent) {
      refusal_ = sent.error().message();
      return std::nullopt;
    }
    run();
    return answer;
  }
  void run() {
    for (int i = 0; i < 10 && has_work(); ++i) {
      loop_->turn();
      loop_->write();
      loop_->release();
      if (keeps_) loop_->keep();
    }
  }
  bool has_work() {
    return loop_->has_turn() || loop_->has_writing() || loop_->has_releasing() ||
           (keeps_ && loop_->has_keeping());
  }
  // By a snapshot that says "the blobs are gone".
  void expect_end_by(BeginSnapshot begin_snapshot) {
    begin();
    LoopOptions options;
    options.snapshots.every = 1;
    options.begin_snapshot = std::move(begin_snapshot);
    std::vector<std::string> ended;
    options.ended = [&](const base::Error& error) { ended.push_back(error.message()); };
    start(std::move(options));
    ask(1);
    ask(2);
    ASSERT_TRUE(loop_->failure().has_value());
    EXPECT_EQ(loop_->failure()->message(), "the blobs are gone");
    EXPECT_FALSE(ask(3));
    EXPECT_EQ(refusal_, "the blobs are gone");
    loop_->turn();
    EXPECT_EQ(ended, std::vector<std::string>{"the blobs are gone"}) << "once";
  }
  std::uint64_t used() const {
    std::uint64_t bytes = 0;
    for (const auto& [file, content] : disk_->now().files) bytes += content.size();
    return bytes;
  }

  // How the effects ended whose receipts are in the journal.
  std::vector<kernel::ReceiptStatus> ends() {
    std::vector<kernel::ReceiptStatus> ends;
    const auto reader = open_->journal().read(1).take();
    while (const auto record = reader->next().take()) {
      const kernel::Tick tick = kernel::tick_of(record->bytes).take();
      if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&tick.input))
        ends.push_back(receipt->status);
    }
    return ends;
  }

  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kLimit = 31'536'000 * kSecond;  // of lab/work@1
  using Ends = std::vector<kernel::ReceiptStatus>;

  env::ManualClock clock_;
  Hand hand_;
  std::optional<Loop> loop_;
  std::string refusal_;
  bool keeps_ = true;  // finishes snapshots
};

}  // namespace holdfast::node::testing
