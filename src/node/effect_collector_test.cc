// SPDX-License-Identifier: Apache-2.0
#include "node/effect_collector.h"

#include "base/sha256.h"
#include "node/testing_history.h"

namespace holdfast::node {
namespace {

// An event's key names a blob. 77 removes the instance, 5 puts out what the test says.
class EffectCollectorTest : public testing::HistoryTest {
 protected:
  void SetUp() override {
    testing::HistoryTest::SetUp();
    keyed_ = [this](const kernel::StepInput& input, kernel::StepOutput& output) {
      const std::uint64_t n = kernel::testing::number(input);
      if (n == 77) return output.remove();
      kernel::testing::state(output, n);
      if (n != 5) return;
      output.begin_annotation();
      kernel::testing::write(output.bytes(), R"({"note":")" + note_ + R"("})");
    };
    begin_collecting();
  }
  void TearDown() override {
    collector_.reset();
    blobs_.reset();
    history_.reset();
  }
  void begin_collecting() {
    blobs_ = WorldEffectBlobs::open(open_->folder()).take();
    make_collector(1);
  }
  void make_collector(std::uint64_t least_bytes) {
    collector_ = std::make_unique<EffectCollector>(
        *open_, *blobs_, history_.get(), least_bytes,
        [this](const store::GcProgress& progress) { removed_ += progress.removed; });
  }

  // As text, which is what a receipt has.
  std::string put(std::string_view text) {
    EXPECT_TRUE(blobs_->keep(base::as_bytes(text)));
    return base::sha256(base::as_bytes(text)).to_text();
  }
  bool has_blob(const std::string& hash) {
    return blobs_->get(*base::Hash::parse(hash)).has_value();
  }

  // As the keeper of a loop and the thread of the history do, in turn.
  base::Result<void> tidy() {
    for (;;) {
      if (TRY(open_->collector().go_on())) continue;
      if (!TRY(collector_->go_on())) return {};
      if (between_) between_();
      clock_.advance_ns(testing::kSecond / 100);
      if (history_ && history_->has_work()) history_->work();
    }
  }
  void collect() {
    const auto done = tidy();
    ASSERT_TRUE(done) << done.error().to_string();
  }
  // Puts enough behind that a collection is due again.
  void make_due() { put(std::string(1 << 20, static_cast<char>('a' + dues_++))); }

  // The records so far leave the journal.
  void trim() {
    for (int i = 0; i < 3; ++i) {
      send_many(60);
      take_snapshot();
    }
  }
  std::string note_;
  std::unique_ptr<WorldEffectBlobs> blobs_;
  std::unique_ptr<EffectCollector> collector_;
  std::function<void()> between_;
  std::uint64_t removed_ = 0;
  int dues_ = 0;
};

TEST_F(EffectCollectorTest, a_blob_goes_when_the_last_record_that_names_it_does) {
  const std::string hash = put("document");
  send(hash, 1);
  send(hash, 77);  // nothing but the records knows of it now
  collect();
  EXPECT_TRUE(has_blob(hash));
  trim();
  make_due();
  collect();
  EXPECT_FALSE(has_blob(hash));
  EXPECT_GE(removed_, 1u);
}

TEST_F(EffectCollectorTest, a_state_keeps_its_blob_when_the_records_are_gone) {
  const std::string hash = put("document");
  send(hash, 1);
  trim();
  collect();
  EXPECT_TRUE(has_blob(hash));
  send(hash, 77);
  trim();
  make_due();
  collect();
  EXPECT_FALSE(has_blob(hash)) << "neither in a state nor in a record";
}

TEST_F(EffectCollectorTest, an_entry_of_a_stream_keeps_its_blob_when_all_else_is_gone) {
  const std::string hash = put("document");
  note_ = hash;
  send("talker", 5);
  catch_up();
  trim();
  collect();
  EXPECT_TRUE(has_blob(hash));
  // The same, as the index lies in its file.
  collector_.reset();
  history_.reset();
  make_collector(1);
  collect();
  EXPECT_TRUE(has_blob(hash));
}

TEST_F(EffectCollectorTest, without_the_index_nothing_keeps_what_an_entry_named) {
  const std::string hash = put("document");
  note_ = hash;
  send("talker", 5);
  trim();
  collector_.reset();
  history_.reset();
  make_collector(1);
  collect();
  EXPECT_FALSE(has_blob(hash)) << "the test above would show nothing otherwise";
}

TEST_F(EffectCollectorTest, a_blob_whose_receipt_is_not_durable_is_pinned) {
  const std::string text = "document";
  auto pin = blobs_->keep(base::as_bytes(text)).take();
  const std::string hash = base::sha256(base::as_bytes(text)).to_text();
  collect();
  EXPECT_TRUE(has_blob(hash));
  pin.reset();
  make_due();
  collect();
  EXPECT_FALSE(has_blob(hash));
}

TEST_F(EffectCollectorTest, what_is_put_again_while_it_collects_stays) {
  const std::string hash = put("document");
  bool again = false;
  between_ = [&] {
    if (!again) put("document");
    again = true;
  };
  // The first time between is while the kernel's blobs are collected, before it begins.
  collect();
  EXPECT_FALSE(has_blob(hash));
  put("document");
  make_due();
  int steps = 0;
  between_ = [&] {
    if (++steps == 3) put("document");
  };
  collect();
  ASSERT_GE(steps, 3);
  EXPECT_TRUE(has_blob(hash));
}

TEST_F(EffectCollectorTest, nothing_goes_while_somebody_copies_the_blobs) {
  const std::string hash = put("document");
  auto held = blobs_->hold();
  collect();
  EXPECT_TRUE(has_blob(hash));
  held.reset();
  // At every step of a collection: it is given up.
  for (int at = 1; has_blob(hash); ++at) {
    int steps = 0;
    between_ = [&] {
      if (++steps == at) held = blobs_->hold();
    };
    collect();
    if (steps < at) break;
    ASSERT_TRUE(has_blob(hash)) << at;
    held.reset();
  }
  EXPECT_FALSE(has_blob(hash));
}

TEST_F(EffectCollectorTest, a_snapshot_that_is_taken_meanwhile_does_no_harm) {
  const std::string named = put("named");
  const std::string unnamed = put("unnamed");
  send(named, 1);
  trim();
  int steps = 0;
  between_ = [&] {
    send_many(30);
    take_snapshot();
    ++steps;
  };
  collect();
  EXPECT_GT(steps, 4);
  EXPECT_TRUE(has_blob(named));
  EXPECT_FALSE(has_blob(unnamed));
}

TEST_F(EffectCollectorTest, a_small_file_is_left_alone_and_a_large_one_until_much_was_put) {
  make_collector(std::uint64_t{64} << 20);
  std::string hash = put("document");
  collect();
  EXPECT_TRUE(has_blob(hash));
  make_collector(1);
  collect();
  EXPECT_FALSE(has_blob(hash));
  make_due();
  collect();
  hash = put("another document");
  collect();
  EXPECT_TRUE(has_blob(hash)) << "little was put since";
}

TEST_F(EffectCollectorTest, a_damaged_blob_of_a_snapshot_stops_it) {
  const std::string hash = put("document");
  trim();
  ASSERT_TRUE(open_->blobs().database().run(
      "UPDATE blobs SET bytes = bytes || 'x' WHERE id = (SELECT max(id) FROM blobs)"));
  const auto done = tidy();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_TRUE(has_blob(hash));
}

// Wherever the process dies, or the power is cut, the world finds what it names when it goes on.
TEST_F(EffectCollectorTest, after_a_crash_at_any_step_everything_that_is_named_is_there) {
  std::vector<std::string> named;
  for (int i = 0; i < 20; ++i) {
    const std::string hash = put("document " + std::to_string(i));
    if (i % 2 == 0) {
      send(hash, 1);
      named.push_back(hash);
    }
  }
  trim();
  int steps = 0;
  bool done = false;
  for (int at = 1; !done; ++at) {
    // To the step, and then the process dies.
    steps = 0;
    for (;;) {
      const auto kernel = open_->collector().go_on();
      ASSERT_TRUE(kernel);
      if (*kernel) continue;
      const auto more = collector_->go_on();
      ASSERT_TRUE(more) << more.error().to_string();
      if (!*more) done = true;
      if (!*more || ++steps == at) break;
      clock_.advance_ns(testing::kSecond / 100);
      if (history_->has_work()) history_->work();
    }
    auto next = disk_->after_process_death();
    TearDown();
    open_.reset();
    disk_ = std::move(next);
    open();
    make();
    begin_collecting();
    for (const std::string& hash : named) ASSERT_TRUE(has_blob(hash)) << "step " << at;
  }
  EXPECT_GT(steps, 4);
}

}  // namespace
}  // namespace holdfast::node
