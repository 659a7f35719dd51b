// SPDX-License-Identifier: Apache-2.0
// Reading streams, from the index and from the journal where it lags.
#include <gmock/gmock.h>

#include "node/testing_history.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;
using testing::HistoryTest;
using ::testing::IsEmpty;
using testing::kSecond;

TEST_F(HistoryTest, a_stream_has_its_entries_in_order_and_one_end) {
  send("a", 2);
  send("b", 1);
  send("a", 0);
  send("a", 5);  // ignored
  catch_up();
  const auto page = read("a");
  EXPECT_THAT(words(page), ElementsAre("2/0", "2/1", "0/0", "completed"));
  EXPECT_EQ(page->entries[1].sequence, sequence_of(2, 1));
  EXPECT_EQ(page->end->sequence, sequence_of(4, 1));
  EXPECT_THAT(words(read("a", sequence_of(2, 0))), ElementsAre("2/1", "0/0", "completed"));
  EXPECT_THAT(words(read("a", sequence_of(4, 0))), ElementsAre("completed"));
  EXPECT_THAT(words(read("a", page->end->sequence)), ElementsAre("completed"))
      << "it is over, whoever asks";
  EXPECT_THAT(words(read("b")), ElementsAre("1/0"));
  EXPECT_THAT(words(read("b", sequence_of(3, 0))), IsEmpty());
}

TEST_F(HistoryTest, pages_follow_each_other_without_a_gap) {
  options_.gather_ns = 3600 * kSecond;
  make();
  for (std::uint64_t n : {7u, 5u, 3u}) send("a", n);
  history_->work();
  for (std::uint64_t n : {2u, 4u, 0u}) send("a", n);
  ASSERT_NE(history_->figures().lag, 0u) << "half of it is in the journal only";
  const auto whole = words(read("a"));
  EXPECT_EQ(whole.size(), 7u + 5 + 3 + 2 + 4 + 1 + 1);
  for (std::size_t limit = 1; limit < 9; ++limit) {
    std::vector<std::string> all;
    std::uint64_t after = 0;
    for (int pages = 0; pages < 50; ++pages) {
      const auto page = read("a", after, limit);
      for (const std::string& word : words(page)) all.push_back(word);
      if (page->end) break;
      ASSERT_FALSE(page->entries.empty());
      ASSERT_LE(page->entries.size(), limit);
      after = page->entries.back().sequence;
    }
    EXPECT_EQ(all, whole) << limit;
  }
}

TEST_F(HistoryTest, who_reads_is_not_kept_waiting_by_an_index_that_lags) {
  options_.gather_ns = 3600 * kSecond;
  make();
  send("a", 1);
  history_->work();
  send("a", 2);
  send("late", 1);
  EXPECT_EQ(history_->figures().lag, 2u);
  EXPECT_THAT(words(read("a", sequence_of(2, 0))), ElementsAre("2/0", "2/1"));
  EXPECT_THAT(words(read("late")), ElementsAre("1/0"));
  EXPECT_EQ(history_->figures().lag, 2u) << "reading feeds nothing";
  send("late", 0);
  EXPECT_THAT(words(read("late")), ElementsAre("1/0", "0/0", "completed"));
  send("late", 9);  // ignored
  EXPECT_THAT(words(read("late", sequence_of(5, 1))), ElementsAre("completed"));
}

TEST_F(HistoryTest, whoever_is_gone_is_only_told_of_by_the_index) {
  options_.gather_ns = 3600 * kSecond;
  make();
  history_->work();
  send("a", 1);
  send("a", 77);
  std::optional<base::Result<StreamPage>> answer;
  ASSERT_TRUE(history_->ask(query("a", 0), [&](auto page) { answer.emplace(std::move(page)); }));
  history_->work();
  EXPECT_FALSE(answer) << "it waits";
  catch_up();
  ASSERT_TRUE(answer);
  EXPECT_THAT(words(*answer), ElementsAre("1/0", "deleted"));
  EXPECT_EQ(read("nobody").error().code(), base::ErrorCode::kNotFound);
}

TEST_F(HistoryTest, a_key_that_begins_again_has_another_stream_and_its_readers_are_told) {
  for (const bool lags : {false, true}) {
    options_.gather_ns = lags ? 3600 * kSecond : 1;
    make();
    const std::string id = lags ? "b" : "a";
    send(id, 2);
    clock_.advance_ns(1);
    history_->work();
    const std::uint64_t first = read(id)->entries[0].sequence;
    send(id, 77);
    send(id, 3);
    if (!lags) catch_up();
    EXPECT_THAT(words(read(id)), ElementsAre("3/0", "3/1", "3/2"));
    EXPECT_THAT(words(read(id, first)), ElementsAre("truncated", "3/0", "3/1", "3/2"));
    const std::uint64_t last = read(id)->entries[0].sequence;
    EXPECT_THAT(words(read(id, last)), ElementsAre("3/1", "3/2"));
  }
}

TEST_F(HistoryTest, of_a_key_that_began_again_far_behind_the_index_nothing_earlier_is_read) {
  options_.gather_ns = 3600 * kSecond;
  make();
  send("a", 2);
  history_->work();
  send("a", 77);
  for (int i = 0; i < 1100; ++i) send("a", 1);  // more than one look walks back
  ASSERT_NE(history_->figures().lag, 0u);
  EXPECT_EQ(read("a").error().code(), base::ErrorCode::kUnavailable) << "it waits for the index";
  catch_up();
  EXPECT_THAT(words(read("a", 0, 2)), ElementsAre("1/0", "1/0"));
}

TEST_F(HistoryTest, a_cancelled_instance_ends_its_stream) {
  send("a", 1);
  const base::Bytes key = kernel::testing::value(R"("a")");
  tick(kernel::ControlRequested{kernel::Control::kCancel, "lab/Keyed@1", key, "enough"});
  send("a", 5);  // ignored
  catch_up();
  EXPECT_THAT(words(read("a")), ElementsAre("1/0", "cancelled"));
  EXPECT_EQ(read("a")->end->sequence, sequence_of(3, 0));
}

TEST_F(HistoryTest, streams_are_there_after_a_restart_and_after_the_journal_was_trimmed) {
  send("a", 2);
  send("a", 0);
  catch_up();
  for (int i = 0; i < 4; ++i) {
    send_many(60);
    pass(1);
    ASSERT_TRUE(open_->take_snapshot(1, {.keep = 1, .readers_need = history_->needs_from()}));
  }
  ASSERT_GT(open_->journal().first(), 4u);
  restart();
  EXPECT_THAT(words(read("a")), ElementsAre("2/0", "2/1", "0/0", "completed"));
}

}  // namespace
}  // namespace holdfast::node
