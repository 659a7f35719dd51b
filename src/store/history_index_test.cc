// SPDX-License-Identifier: Apache-2.0
#include "store/history_index.h"

#include <gmock/gmock.h>

#include "store/history_swap.h"
#include "store/testing_history.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HistoryIndexTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    open_.reset();
    auto opened = open_history(disk_, *random_);
    ASSERT_TRUE(opened) << opened.error().to_string();
    open_ = std::move(*opened);
  }
  HistoryIndex& index() { return *open_->index; }

  // The next record, which touches one instance.
  InstanceChange change(const std::string& key, const std::string& status,
                        std::vector<std::string> said = {}) {
    ++record_;
    InstanceChange change;
    change.workflow = "shop/Order@1";
    change.key = {key.begin(), key.end()};
    change.key_text = key;
    change.record = record_;
    change.time_ns = record_ * 10;
    change.previous = std::exchange(last_[key], status == "deleted" ? 0 : record_);
    change.status = status;
    change.steps = 1;
    change.annotations = std::move(said);
    return change;
  }
  // The same for an instance that had ended before.
  InstanceChange late(const std::string& key, const std::string& status) {
    InstanceChange late = change(key, status);
    late.keeps_error = true;
    return late;
  }
  base::Result<void> apply(std::vector<InstanceChange> changes) {
    HistoryBatch batch;
    for (InstanceChange& each : changes) batch.add(std::move(each));
    return index().apply(batch, record_, MadeUpHistory::hash(record_));
  }
  std::vector<std::string> keys(const HistoryQuery& query) {
    std::vector<std::string> keys;
    const auto page = index().list(query);
    EXPECT_TRUE(page) << page.error().to_string();
    if (page) {
      for (const InstanceRow& row : page->rows) keys.push_back(row.key_text);
    }
    return keys;
  }
  InstanceRow row(const std::string& key) {
    return index().find("shop/Order@1", base::as_bytes(key))->value();
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(5);
  std::unique_ptr<OpenHistory> open_;
  RecordNumber record_ = 0;
  std::map<std::string, RecordNumber> last_;
};

TEST_F(HistoryIndexTest, a_new_index_has_seen_nothing) {
  EXPECT_EQ(index().cursor(), HistoryCursor());
  EXPECT_THAT(keys({}), IsEmpty());
  EXPECT_FALSE(index().find("shop/Order@1", {})->has_value());
}

TEST_F(HistoryIndexTest, many_records_of_one_instance_are_one_row) {
  ASSERT_TRUE(apply({change("a", "running", {"one"}), change("a", "waiting"),
                     change("a", "failed", {"two", "three"})}));
  const InstanceRow a = row("a");
  EXPECT_EQ(a.status, "failed");
  EXPECT_EQ(a.first_record, 1u);
  EXPECT_EQ(a.first_ns, 10u);
  EXPECT_EQ(a.last_record, 3u);
  EXPECT_EQ(a.last_ns, 30u);
  EXPECT_EQ(a.steps, 3u);
  EXPECT_EQ(a.annotations, 3u);
  EXPECT_EQ(*index().annotations(a.id), "one\ntwo\nthree");
  EXPECT_EQ(index().cursor().record, 3u);
}

TEST_F(HistoryIndexTest, what_was_applied_is_there_after_opening_again) {
  ASSERT_TRUE(apply({change("a", "running", {"one"}), change("b", "waiting")}));
  const HistoryCursor cursor = index().cursor();
  const auto before = everything(index());
  open();
  EXPECT_EQ(index().cursor(), cursor);
  EXPECT_EQ(everything(index()), before);
  EXPECT_EQ(before.size(), 2u);
}

TEST_F(HistoryIndexTest, a_key_that_begins_again_begins_with_nothing) {
  ASSERT_TRUE(apply({change("a", "running", {"old"})}));
  ASSERT_TRUE(apply({change("a", "deleted")}));
  EXPECT_EQ(row("a").status, "deleted");
  EXPECT_EQ(row("a").first_record, 1u);
  ASSERT_TRUE(apply({change("a", "running")}));
  EXPECT_EQ(row("a").first_record, 3u);
  EXPECT_EQ(row("a").steps, 1u);
  EXPECT_EQ(row("a").annotations, 0u);
  EXPECT_EQ(*index().annotations(row("a").id), "");
  EXPECT_EQ(row("a").id, 1u) << "its place in lists stays";
}

TEST_F(HistoryIndexTest, a_key_that_one_record_deletes_and_begins_again_begins_with_nothing) {
  ASSERT_TRUE(apply({change("a", "running", {"old"})}));
  const InstanceChange deleted = change("a", "deleted", {"last"});
  InstanceChange again = deleted;
  again.status = "running";
  again.annotations = {"new"};
  ASSERT_TRUE(apply({deleted, again}));
  EXPECT_EQ(row("a").status, "running");
  EXPECT_EQ(row("a").first_record, 2u);
  EXPECT_EQ(row("a").steps, 1u);
  EXPECT_EQ(row("a").annotations, 1u);
}

TEST_F(HistoryIndexTest, an_instance_that_is_touched_after_its_end_keeps_its_error) {
  InstanceChange failed = change("a", "failed");
  failed.error_code = "no";
  failed.error_message = "not today";
  ASSERT_TRUE(apply({change("b", "cancelled"), failed, late("a", "failed")}));
  EXPECT_EQ(row("a").error_code, "no") << "in one batch";
  ASSERT_TRUE(apply({late("b", "cancelled"), late("a", "failed"), late("a", "failed")}));
  EXPECT_EQ(row("a").error_code, "no") << "in another one";
  EXPECT_EQ(row("a").error_message, "not today");
  EXPECT_EQ(row("b").error_code, "");
}

TEST_F(HistoryIndexTest, a_record_that_was_missed_or_comes_twice_is_refused) {
  ASSERT_TRUE(apply({change("a", "running")}));
  InstanceChange second = change("a", "waiting");
  const InstanceChange third = change("a", "completed");
  const auto missed = apply({third});
  ASSERT_FALSE(missed);
  EXPECT_TRUE(needs_rebuild(missed.error()));
  EXPECT_THAT(missed.error().to_string(),
              HasSubstr("does not show record 2, which record 3 follows"));
  open();
  EXPECT_EQ(index().cursor().record, 1u);
  ASSERT_TRUE(apply({second}));
  const auto twice = apply({second});
  ASSERT_FALSE(twice);
  EXPECT_TRUE(needs_rebuild(twice.error()));
  open();
  EXPECT_EQ(row("a").steps, 2u);
}

TEST_F(HistoryIndexTest, an_instance_from_before_the_index_has_no_beginning) {
  index().begin_with(101);
  record_ = 100;
  last_["a"] = 50;
  ASSERT_TRUE(apply({change("a", "running")}));
  EXPECT_EQ(row("a").first_record, 0u);
  EXPECT_EQ(row("a").last_record, 101u);
  EXPECT_EQ(index().cursor().begins, 101u);
}

TEST_F(HistoryIndexTest, filters_go_together) {
  InstanceChange parcel = change("p", "failed");
  parcel.workflow = "shop/Parcel@1";
  InstanceChange paused = change("b", "waiting");
  paused.paused = true;
  ASSERT_TRUE(apply({change("a", "failed"), parcel, paused, change("c", "failed")}));
  EXPECT_THAT(keys({}), ElementsAre("c", "b", "p", "a")) << "the last seen comes first";
  EXPECT_THAT(keys({.status = "failed"}), ElementsAre("c", "p", "a"));
  EXPECT_THAT(keys({.workflow = "shop/Order@1", .status = "failed"}), ElementsAre("c", "a"));
  EXPECT_THAT(keys({.workflow = "shop/Order@1"}), ElementsAre("c", "b", "a"));
  EXPECT_THAT(keys({.workflow = "shop/Nothing@1"}), IsEmpty());
  EXPECT_THAT(keys({.paused = true}), ElementsAre("b"));
  EXPECT_THAT(keys({.since_ns = 30}), ElementsAre("c", "a")) << "records 3 and 4";
}

TEST_F(HistoryIndexTest, search_finds_all_words_and_takes_none_for_an_operator) {
  ASSERT_TRUE(apply({change("a", "running", {R"({"note":"the left mug"})"}),
                     change("b", "running", {"the right mug", "sent OR not"}),
                     change("c", "running", {"Straße nach München"})}));
  EXPECT_THAT(keys({.words = "mug"}), ElementsAre("b", "a"));
  EXPECT_THAT(keys({.words = " left  mug "}), ElementsAre("a"));
  EXPECT_THAT(keys({.words = "left OR right"}), IsEmpty());
  EXPECT_THAT(keys({.words = "or"}), ElementsAre("b"));
  EXPECT_THAT(keys({.words = "mu*"}), IsEmpty());
  EXPECT_THAT(keys({.words = "\"mug"}), ElementsAre("b", "a"));
  EXPECT_THAT(keys({.words = "STRAßE munchen"}), ElementsAre("c"));
  EXPECT_THAT(keys({.status = "failed", .words = "mug"}), IsEmpty());
}

TEST_F(HistoryIndexTest, what_is_said_later_is_found_and_what_is_let_go_is_not) {
  ASSERT_TRUE(apply({change("a", "running", {"first"})}));
  ASSERT_TRUE(apply({change("a", "running", {"second"})}));
  EXPECT_THAT(keys({.words = "first second"}), ElementsAre("a"));
  const std::string large(kMaxAnnotationBytes + 5, 'x');
  ASSERT_TRUE(apply({change("a", "running", {large, "third"})}));
  EXPECT_THAT(keys({.words = "first"}), IsEmpty());
  EXPECT_EQ(*index().annotations(row("a").id), "third");
  EXPECT_EQ(row("a").annotations, 4u) << "all that was said is counted";
}

TEST_F(HistoryIndexTest, pages_go_on_where_the_last_one_ended_also_when_rows_are_added) {
  std::vector<InstanceChange> changes;
  for (char key = 'a'; key <= 'z'; ++key) changes.push_back(change({key}, "running", {"word"}));
  ASSERT_TRUE(apply(std::move(changes)));
  for (const std::string words : {"", "word"}) {
    HistoryQuery query{.words = words, .limit = 4};
    std::string seen;
    do {
      const auto page = *index().list(query);
      for (const InstanceRow& each : page.rows) seen += each.key_text;
      query.after = page.next;
      ASSERT_TRUE(apply({change("new" + words + std::to_string(seen.size()), "running")}));
    } while (query.after != 0);
    EXPECT_EQ(seen.size() % 26, 0u) << seen;
    EXPECT_EQ(seen.substr(seen.size() - 26), "zyxwvutsrqponmlkjihgfedcba");
    if (words.empty()) continue;
    EXPECT_EQ(seen.size(), 26u);
  }
  EXPECT_EQ(index().list({.limit = 0}).error().code(), base::ErrorCode::kInvalid);
  EXPECT_EQ(index().list({.limit = kMaxPageRows + 1}).error().code(), base::ErrorCode::kInvalid);
}

TEST_F(HistoryIndexTest, only_so_many_rows_are_looked_at_for_a_page_and_the_next_goes_on) {
  constexpr std::size_t kMany = 50'000;
  std::vector<InstanceChange> changes;
  for (std::size_t i = 0; i < kMany; ++i)
    changes.push_back(change(std::to_string(i), i == 0 ? "failed" : "running", {"word"}));
  changes.front().paused = true;  // the last that is come to
  const std::uint64_t since = changes.back().time_ns;
  ASSERT_TRUE(apply(std::move(changes)));
  const HistoryQuery queries[] = {{.paused = true}, {.status = "failed", .words = "word"}};
  for (HistoryQuery query : queries) {
    std::string seen;
    std::size_t pages = 0;
    do {
      const auto page = *index().list(query);
      for (const InstanceRow& each : page.rows) seen += each.key_text;
      query.after = page.next;
      ++pages;
    } while (query.after != 0);
    EXPECT_EQ(seen, "0");
    EXPECT_EQ(pages, 3u);
  }
  const auto newest = *index().list({.since_ns = since, .limit = 10});
  ASSERT_EQ(newest.rows.size(), 1u);
  EXPECT_EQ(newest.rows[0].key_text, std::to_string(kMany - 1));
  EXPECT_EQ(index().list({.status = "failed"})->next, 0u) << "an index tells which fit";
}

TEST_F(HistoryIndexTest, an_index_of_another_world_is_refused_and_stays_as_it_is) {
  ASSERT_TRUE(apply({change("a", "running")}));
  open_.reset();
  ASSERT_TRUE(disk_.remove("./world/WORLD"));
  ASSERT_TRUE(disk_.remove("./world/LOCK"));
  const auto other = open_history(disk_, *random_);
  ASSERT_FALSE(other);
  EXPECT_TRUE(needs_rebuild(other.error()));
  EXPECT_EQ(other.error().to_string(), "./world/history.db: belongs to another world");
}

TEST_F(HistoryIndexTest, a_damaged_file_is_named) {
  ASSERT_TRUE(apply({change("a", "running")}));
  open_.reset();
  {
    auto file = *disk_.open("./world/history.db", env::OpenMode::kReadWrite);
    ASSERT_TRUE(env::write_all(*file, 0, base::as_bytes("this is no database")));
  }
  const auto opened = open_history(disk_, *random_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("./world/history.db"));
}

TEST_F(HistoryIndexTest, a_full_disk_changes_nothing_and_one_may_try_again) {
  ASSERT_TRUE(apply({change("a", "running", {"one"})}));
  const auto before = everything(index());
  std::vector<InstanceChange> changes;
  for (char key = 'b'; key <= 'z'; ++key)
    changes.push_back(change({key}, "running", {std::string(20'000, key)}));
  disk_.set_capacity(200'000);
  const auto full = apply(changes);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), base::ErrorCode::kUnavailable) << full.error().to_string();
  EXPECT_EQ(everything(index()), before);
  EXPECT_EQ(index().cursor().record, 1u);
  disk_.set_capacity(std::nullopt);
  ASSERT_TRUE(apply(changes));
  EXPECT_EQ(everything(index()).size(), 26u);
}

TEST_F(HistoryIndexTest, a_failed_sync_ends_it) {
  disk_.fail_call(1, env::DiskFault::kIoError);
  while (apply({change("a", "running")})) {
  }
  const auto after = apply({change("b", "running")});
  ASSERT_FALSE(after);
  EXPECT_THAT(after.error().to_string(), HasSubstr("the index has ended"));
}

TEST_F(HistoryIndexTest, a_new_index_takes_the_place_of_the_old_one_and_of_its_log) {
  ASSERT_TRUE(apply({change("a", "running", {"old"})}));
  // The old one is left as a process that dies leaves it, with a log.
  auto after_death = disk_.after_process_death();
  open_.reset();
  const auto process = env::posix_process();
  auto folder = *WorldFolder::open(*after_death, *random_, *process, "./world");
  auto built = *begin_new_history(folder);
  HistoryBatch batch;
  InstanceChange b = change("b", "running");
  b.record = 1;
  batch.add(b);
  ASSERT_TRUE(built->apply(batch, 1, MadeUpHistory::hash(1)));
  ASSERT_TRUE(put_in_place(folder, std::move(built)));
  auto index = *HistoryIndex::open(folder);
  ASSERT_EQ(everything(*index).size(), 1u);
  EXPECT_EQ(everything(*index)[0].first.key_text, "b");
  const std::vector<std::string> names = *after_death->list("./world");
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("history.db.new")));
}

// A power cut that keeps the new name and brings back the old log would make a mixture.
TEST_F(HistoryIndexTest, the_old_log_is_gone_durably_before_the_new_index_has_its_name) {
  using Kind = env::DiskOperation::Kind;
  ASSERT_TRUE(apply({change("a", "running")}));
  auto after_death = disk_.after_process_death();
  open_.reset();
  const auto process = env::posix_process();
  auto folder = *WorldFolder::open(*after_death, *random_, *process, "./world");
  auto built = *begin_new_history(folder);
  ASSERT_TRUE(put_in_place(folder, std::move(built)));
  bool is_gone = false;
  bool is_durable = false;
  bool is_named = false;
  for (const env::DiskOperation& operation : after_death->operations()) {
    if (operation.kind == Kind::kRemove && operation.path == "./world/history.db-wal")
      is_gone = true;
    if (operation.kind == Kind::kSyncDirectory && operation.path == "./world") is_durable = is_gone;
    if (operation.kind == Kind::kRename && operation.other_path == "./world/history.db") {
      is_named = true;
      EXPECT_TRUE(is_durable);
    }
  }
  EXPECT_TRUE(is_named);
}

TEST_F(HistoryIndexTest, a_new_index_takes_the_place_of_a_damaged_one) {
  ASSERT_TRUE(apply({change("a", "running", {"old"})}));
  auto after_death = disk_.after_process_death();
  open_.reset();
  for (const char* path : {"./world/history.db", "./world/history.db-wal"}) {
    auto file = *after_death->open(path, env::OpenMode::kReadWrite);
    ASSERT_TRUE(env::write_all(*file, 0, base::as_bytes("this is no database, and no log")));
  }
  const auto process = env::posix_process();
  auto folder = *WorldFolder::open(*after_death, *random_, *process, "./world");
  ASSERT_FALSE(HistoryIndex::open(folder));
  ASSERT_TRUE(put_in_place(folder, *begin_new_history(folder)));
  auto index = HistoryIndex::open(folder);
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_THAT(everything(**index), IsEmpty());
}

// Streams and forgetting.

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

}  // namespace
}  // namespace holdfast::store::testing
