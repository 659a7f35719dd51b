// SPDX-License-Identifier: Apache-2.0
#include "node/history_feed.h"

#include <gmock/gmock.h>

#include "kernel/testing_lab.h"
#include "node/testing.h"

namespace holdfast::node {
namespace {

using kernel::Control;
using kernel::StepInput;
using kernel::StepOutput;
using kernel::testing::kStopToKeyed;
using kernel::testing::kToKeyed;
using store::HistoryIndex;
using store::InstanceRow;
using testing::append_records;
using ::testing::HasSubstr;

// A world of the lab, whose records go into a journal on a simulated disk.
class HistoryFeedTest : public kernel::testing::LabTest {
 protected:
  void SetUp() override {
    begin(std::string(kToKeyed) + "," + kStopToKeyed);
    keyed_ = [](const StepInput& input, StepOutput& output) {
      if (input.mail.schema == "lab/Stop@1") return output.remove();
      const std::uint64_t n = kernel::testing::number(input);
      kernel::testing::state(output, n);
      if (n == 5) {
        output.begin_annotation();
        kernel::testing::write(output.bytes(), R"({"note":"five it was"})");
      }
      if (n == 7) output.fail("seven", "not seven again");
      if (n == 8) kernel::testing::open(output, "lab/work@1", R"({"a":1})");
    };
    open();
  }

  // As after the death of the process.
  void open() {
    open_.reset();
    open_ = *sim_.open();
  }
  store::Journal& journal() { return open_->journal(); }
  void write_records() { ASSERT_TRUE(append_records(journal(), bench().journal())); }

  static void catch_up(HistoryFeed& feed, const SliceLimits& limits = {}) {
    while (feed.lag() > 0) {
      const auto done = feed.run(limits);
      ASSERT_TRUE(done) << done.error().to_string();
    }
  }
  static InstanceRow row(HistoryIndex& index, std::string_view key_json) {
    return index.find("lab/Keyed@1", kernel::testing::value(key_json))->value();
  }

  store::testing::SimWorld sim_;
  std::unique_ptr<store::testing::OpenWorld> open_;
};

TEST_F(HistoryFeedTest, rows_show_what_the_records_say) {
  send("a", 5);
  send("a", 6);
  send("b", 7);
  send("c", 8);
  bench().control(Control::kPause, "lab/Keyed@1", R"("c")");
  bench().event("lab/Stop@1", R"({"id":"a"})");
  send("d", 8);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("d")");
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  EXPECT_EQ(feed.lag(), 9u);
  catch_up(feed);
  EXPECT_EQ(index->cursor().record, 9u);

  const InstanceRow a = row(*index, R"("a")");
  EXPECT_EQ(a.status, "deleted");
  EXPECT_EQ(a.key_text, R"("a")");
  EXPECT_EQ(a.first_record, 2u);
  EXPECT_EQ(a.first_ns, 2'000'000'000u);
  EXPECT_EQ(a.last_record, 7u);
  EXPECT_EQ(a.steps, 3u);
  EXPECT_EQ(a.annotations, 1u);
  EXPECT_EQ(*index->annotations(a.id), R"({"note":"five it was"})");
  const InstanceRow b = row(*index, R"("b")");
  EXPECT_EQ(b.status, "failed");
  EXPECT_EQ(b.error_code, "seven");
  EXPECT_EQ(b.error_message, "not seven again");
  const InstanceRow c = row(*index, R"("c")");
  EXPECT_EQ(c.status, "waiting");
  EXPECT_TRUE(c.paused);
  EXPECT_EQ(row(*index, R"("d")").status, "cancelled");
  ASSERT_EQ(index->list({.words = "five"})->rows.size(), 1u);
}

TEST_F(HistoryFeedTest, an_instance_that_is_sent_to_after_its_end_keeps_its_error) {
  send("b", 7);
  send("b", 5);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  catch_up(feed, {.records = 1});
  const InstanceRow b = row(*index, R"("b")");
  EXPECT_EQ(b.last_record, 3u);
  EXPECT_EQ(b.status, "failed");
  EXPECT_EQ(b.error_code, "seven");
  EXPECT_EQ(b.error_message, "not seven again");
}

TEST_F(HistoryFeedTest, a_key_that_begins_again_in_the_same_record_shows_its_new_life) {
  send("a", 5);
  bench().event("lab/Stop@1", R"({"id":"a"})");
  send("a", 6);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  catch_up(feed, {.records = 1});
  EXPECT_EQ(row(*index, R"("a")").first_record, 4u);
  EXPECT_EQ(row(*index, R"("a")").steps, 1u);
  EXPECT_EQ(row(*index, R"("a")").annotations, 0u);
}

TEST_F(HistoryFeedTest, a_slice_is_no_longer_than_it_may_be) {
  for (int i = 0; i < 20; ++i) send("a", 5);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  ASSERT_TRUE(feed.run({.records = 4}));
  EXPECT_EQ(index->cursor().record, 4u);
  EXPECT_EQ(feed.lag(), 17u);
  ASSERT_TRUE(feed.run({.records = 100, .bytes = 1}));
  EXPECT_EQ(index->cursor().record, 5u) << "one record at least";
  ASSERT_TRUE(feed.run());
  EXPECT_EQ(feed.lag(), 0u);
  ASSERT_TRUE(feed.run()) << "nothing to do is no error";
}

TEST_F(HistoryFeedTest, only_durable_records_are_read) {
  send("a", 5);
  write_records();
  send("a", 6);
  const base::ByteView last = bench().journal().back();
  ASSERT_TRUE(journal().append({&last, 1}));
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  EXPECT_EQ(feed.lag(), 2u);
  catch_up(feed);
  EXPECT_EQ(index->cursor().record, 2u);
  ASSERT_TRUE(journal().sync());
  EXPECT_EQ(feed.lag(), 1u);
  catch_up(feed);
  EXPECT_EQ(row(*index, R"("a")").last_record, 3u);
}

TEST_F(HistoryFeedTest, after_a_restart_it_goes_on_where_it_was) {
  send("a", 5);
  write_records();
  {
    auto index = *HistoryIndex::open(open_->folder);
    HistoryFeed feed = *HistoryFeed::start(journal(), *index);
    catch_up(feed);
  }
  open();
  send("a", 6);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  auto feed = HistoryFeed::start(journal(), *index);
  ASSERT_TRUE(feed) << feed.error().to_string();
  EXPECT_EQ(feed->lag(), 1u);
  catch_up(*feed);
  EXPECT_EQ(row(*index, R"("a")").steps, 2u);
}

TEST_F(HistoryFeedTest, after_a_full_disk_it_reads_again_what_was_not_written) {
  for (std::uint64_t i = 0; i < 200; ++i) send("key-" + std::to_string(i), 5);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  HistoryFeed feed = *HistoryFeed::start(journal(), *index);
  ASSERT_TRUE(feed.run({.records = 10}));
  std::uint64_t used = 0;
  for (const auto& [inode, file] : sim_.disk().now().files) used += file.size();
  sim_.disk().set_capacity(used);
  const auto full = feed.run();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(index->cursor().record, 10u);
  sim_.disk().set_capacity(std::nullopt);
  catch_up(feed);
  EXPECT_EQ(index->list({.limit = 1000})->rows.size(), 200u);
}

TEST_F(HistoryFeedTest, an_index_that_is_ahead_of_the_journal_is_refused) {
  send("a", 5);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  ASSERT_TRUE(index->apply({}, 7, {}));
  const auto feed = HistoryFeed::start(journal(), *index);
  ASSERT_FALSE(feed);
  EXPECT_TRUE(store::needs_rebuild(feed.error()));
  EXPECT_EQ(feed.error().to_string(),
            "history.db: has seen record 7, but the journal ends with record 2");
}

TEST_F(HistoryFeedTest, an_index_of_another_course_of_events_is_refused) {
  send("a", 5);
  send("a", 6);
  write_records();
  auto index = *HistoryIndex::open(open_->folder);
  ASSERT_TRUE(index->apply({}, 2, {}));
  const auto feed = HistoryFeed::start(journal(), *index);
  ASSERT_FALSE(feed);
  EXPECT_TRUE(store::needs_rebuild(feed.error()));
  EXPECT_THAT(feed.error().message(), HasSubstr("its record 2 is not the one in this journal"));
}

class TrimmedHistoryTest : public HistoryFeedTest {
 protected:
  void SetUp() override {
    HistoryFeedTest::SetUp();
    for (int i = 0; i < 60; ++i) send(i < 5 ? "old" : "a", 5);
    send("old", 6);
    write_records();
    ASSERT_TRUE(journal().trim(50));
    first_ = journal().first();
    ASSERT_GT(first_, 10u);
  }
  store::RecordNumber first_ = 0;
};

TEST_F(TrimmedHistoryTest, an_index_that_would_need_trimmed_records_is_refused) {
  auto index = *HistoryIndex::open(open_->folder);
  const auto feed = HistoryFeed::start(journal(), *index);
  ASSERT_FALSE(feed);
  EXPECT_TRUE(store::needs_rebuild(feed.error()));
  EXPECT_EQ(feed.error().to_string(),
            "history.db: has seen records up to 0, but the journal begins with record " +
                std::to_string(first_));
}

TEST_F(TrimmedHistoryTest, a_rebuild_says_where_it_begins) {
  const auto cursor = rebuild_history(open_->folder, journal());
  ASSERT_TRUE(cursor) << cursor.error().to_string();
  EXPECT_EQ(cursor->begins, first_);
  EXPECT_EQ(cursor->record, journal().last());
  auto index = *HistoryIndex::open(open_->folder);
  EXPECT_EQ(index->cursor(), *cursor);
  EXPECT_TRUE(HistoryFeed::start(journal(), *index));
  EXPECT_EQ(row(*index, R"("old")").first_record, 0u);
  EXPECT_EQ(row(*index, R"("old")").last_record, journal().last());
}

TEST_F(HistoryFeedTest, a_rebuild_gives_the_rows_that_feeding_gave) {
  for (std::uint64_t i = 0; i < 50; ++i)
    send(std::string(1, static_cast<char>('a' + i % 7)), i % 9);
  write_records();
  std::vector<InstanceRow> rows;
  {
    auto index = *HistoryIndex::open(open_->folder);
    HistoryFeed feed = *HistoryFeed::start(journal(), *index);
    catch_up(feed, {.records = 3});
    rows = index->list({.limit = 100})->rows;
  }
  ASSERT_EQ(rows.size(), 7u);
  std::vector<store::RecordNumber> told;
  ASSERT_TRUE(rebuild_history(open_->folder, journal(), nullptr,
                              [&](store::RecordNumber record) { told.push_back(record); }));
  EXPECT_EQ(told, std::vector<store::RecordNumber>{51});
  auto index = *HistoryIndex::open(open_->folder);
  EXPECT_EQ(index->list({.limit = 100})->rows, rows);
}

}  // namespace
}  // namespace holdfast::node
