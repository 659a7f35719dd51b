// SPDX-License-Identifier: Apache-2.0
// Streams of instances in the index, and forgetting.
#include <gmock/gmock.h>

#include "store/history_index.h"
#include "store/history_statements.h"
#include "store/testing_history_index.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StreamIndexTest : public HistoryIndexTest {
 protected:
  InstanceChange put(const std::string& key, const std::string& status, std::size_t count,
                     std::size_t bytes = 1) {
    InstanceChange made = change(key, status);
    for (std::size_t i = 0; i < count; ++i)
      made.entries.push_back({made.record * 65536 + i, base::Bytes(bytes, 'e')});
    if (is_over(status)) made.ended = made.record * 65536 + count;
    return made;
  }
  InstanceChange forgets(const std::string& key, RecordNumber named) {
    InstanceChange made = change(key, "");
    last_[key] = 0;
    made.forgets = true;
    made.previous = named;
    return made;
  }
  std::vector<std::uint64_t> sequences(const std::string& key, std::uint64_t after = 0,
                                       std::size_t limit = 1000) {
    std::vector<std::uint64_t> all;
    for (const StreamEntry& entry : index().stream(row(key).id, after, limit, 1 << 20).take())
      all.push_back(entry.sequence);
    return all;
  }
  bool has(const std::string& key) {
    return index().find("shop/Order@1", base::as_bytes(key))->has_value();
  }
};

TEST_F(StreamIndexTest, entries_are_read_behind_a_sequence_and_up_to_a_limit) {
  ASSERT_TRUE(apply({put("a", "running", 2), put("b", "running", 1), put("a", "completed", 1)}));
  EXPECT_THAT(sequences("a"), ElementsAre(65536, 65537, 3 * 65536));
  EXPECT_THAT(sequences("a", 65536), ElementsAre(65537, 3 * 65536));
  EXPECT_THAT(sequences("a", 0, 1), ElementsAre(65536));
  EXPECT_EQ(row("a").ended, 3 * 65536u + 1);
  EXPECT_EQ(row("a").dropped, 0u);
  EXPECT_EQ(row("b").ended, 0u);
}

TEST_F(StreamIndexTest, a_page_has_so_many_bytes_but_one_entry_at_least) {
  ASSERT_TRUE(apply({put("a", "running", 3, 1000)}));
  EXPECT_EQ(index().stream(row("a").id, 0, 10, 2500)->size(), 2u);
  EXPECT_EQ(index().stream(row("a").id, 0, 10, 10)->size(), 1u);
}

TEST_F(StreamIndexTest, the_end_stays_where_it_was_when_messages_come_later) {
  ASSERT_TRUE(apply({put("a", "completed", 0)}));
  InstanceChange later = change("a", "completed");
  ASSERT_TRUE(apply({later}));
  EXPECT_EQ(row("a").ended, 65536u);
}

TEST_F(StreamIndexTest, too_many_entries_lose_the_oldest_and_say_so) {
  ASSERT_TRUE(apply({put("a", "running", kMaxStreamEntries)}));
  EXPECT_EQ(row("a").dropped, 0u);
  ASSERT_TRUE(apply({put("a", "running", 3)}));
  EXPECT_EQ(row("a").dropped, 65536u + 2);
  EXPECT_EQ(sequences("a", 0, kMaxStreamEntries + 9).size(), kMaxStreamEntries);
  EXPECT_EQ(sequences("a", 0, 1).at(0), 65536u + 3);
}

TEST_F(StreamIndexTest, too_many_bytes_lose_the_oldest_too) {
  ASSERT_TRUE(apply({put("a", "running", 5, 1 << 20)}));
  EXPECT_EQ(row("a").dropped, 65536u + 1) << "each counts for a little more than its value";
  EXPECT_EQ(sequences("a", 0, 9).at(0), 65536u + 2);
}

TEST_F(StreamIndexTest, in_how_many_portions_they_came_does_not_matter) {
  std::vector<InstanceChange> parts;
  for (int i = 0; i < 30; ++i) parts.push_back(put("a", "running", 600, i % 7 == 0 ? 2000 : 3));
  for (InstanceChange part : parts) {
    part.workflow = "shop/Other@1";
    HistoryBatch batch;
    batch.add(std::move(part));
    ASSERT_TRUE(index().apply(batch, record_, MadeUpHistory::hash(record_)));
  }
  ASSERT_TRUE(apply(parts));
  const auto other = index().find("shop/Other@1", base::as_bytes("a"))->value();
  EXPECT_NE(other.dropped, 0u);
  EXPECT_EQ(other.dropped, row("a").dropped);
  EXPECT_EQ(index().stream(other.id, 0, 20'000, 1 << 30).take(),
            index().stream(row("a").id, 0, 20'000, 1 << 30).take());
}

TEST_F(StreamIndexTest, a_key_that_begins_again_has_a_stream_of_its_own) {
  ASSERT_TRUE(apply({put("a", "deleted", kMaxStreamEntries + 1)}));
  ASSERT_TRUE(apply({put("a", "running", 1)}));
  EXPECT_THAT(sequences("a"), ElementsAre(2 * 65536));
  EXPECT_EQ(row("a").ended, 0u);
  EXPECT_EQ(row("a").dropped, 0u);
}

TEST_F(StreamIndexTest, what_is_forgotten_leaves_nothing_behind) {
  InstanceChange said = put("a", "completed", 2);
  said.annotations = {"hello"};
  ASSERT_TRUE(apply({said, put("b", "failed", 0)}));
  const std::uint64_t id = row("a").id;
  ASSERT_TRUE(apply({forgets("a", 1)}));
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b"));
  EXPECT_TRUE(index().stream(id, 0, 10, 100)->empty());
  EXPECT_EQ(*index().annotations(id), "");
  ASSERT_TRUE(apply({put("a", "running", 0)}));
  EXPECT_EQ(row("a").id, 3u) << "no id is given twice";
}

TEST_F(StreamIndexTest, who_goes_on_or_was_touched_since_is_not_forgotten) {
  ASSERT_TRUE(apply({put("a", "running", 0), put("b", "completed", 0), put("c", "deleted", 0)}));
  ASSERT_TRUE(apply({forgets("a", 9), forgets("b", 1), forgets("c", 3), forgets("nobody", 3)}));
  EXPECT_TRUE(has("a"));
  EXPECT_TRUE(has("b"));
  EXPECT_FALSE(has("c"));
}

TEST_F(StreamIndexTest, all_of_it_may_happen_in_one_batch) {
  ASSERT_TRUE(apply({put("a", "completed", 1), forgets("a", 1), put("a", "completed", 2),
                     forgets("a", 2), put("b", "running", 1)}));
  EXPECT_THAT(sequences("a"), ElementsAre(3 * 65536, 3 * 65536 + 1));
  EXPECT_EQ(row("a").id, 2u);
  EXPECT_EQ(row("b").id, 3u);
}

TEST_F(StreamIndexTest, those_that_are_over_come_the_oldest_first) {
  EXPECT_EQ(*index().oldest_over_ns(), std::nullopt);
  ASSERT_TRUE(apply({put("a", "running", 0), put("b", "completed", 0), put("c", "deleted", 0),
                     put("d", "cancelled", 0), put("e", "failed", 0)}));
  EXPECT_EQ(*index().oldest_over_ns(), 20u);
  const auto over = index().over_since(40, 10).take();
  ASSERT_EQ(over.size(), 3u);
  EXPECT_EQ(base::as_text(over[0].key), "b");
  EXPECT_EQ(over[0].workflow, "shop/Order@1");
  EXPECT_EQ(over[0].last_record, 2u);
  EXPECT_EQ(base::as_text(over[2].key), "d");
  EXPECT_EQ(index().over_since(40, 2)->size(), 2u);
}

TEST_F(StreamIndexTest, those_that_are_over_are_read_in_the_order_of_their_index) {
  auto database = open_world_database(open_->folder, "plans.db", kHistorySchema).take();
  for (const std::string& sql : {kFindOver, kFirstOver}) {
    auto explained = database.database.prepare("EXPLAIN QUERY PLAN " + sql).take();
    std::string plan;
    while (*explained.step()) plan += std::string(explained.text(3)) + "\n";
    EXPECT_THAT(plan, ::testing::HasSubstr("INDEX by_end")) << sql;
    EXPECT_THAT(plan, ::testing::Not(::testing::HasSubstr("TEMP B-TREE"))) << sql;
  }
}

}  // namespace
}  // namespace holdfast::store::testing
