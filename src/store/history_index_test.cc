// SPDX-License-Identifier: Apache-2.0
#include "store/history_index.h"

#include <gmock/gmock.h>

#include "store/history_swap.h"
#include "store/testing_history_index.h"
#include "store/world_database.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  const std::uint64_t first = changes.front().time_ns;
  const std::uint64_t since = changes.back().time_ns;
  ASSERT_TRUE(apply(std::move(changes)));
  const HistoryQuery queries[] = {{.until_ns = first + 1}, {.status = "failed", .words = "word"}};
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
  const auto paused = *index().list({.paused = true});
  EXPECT_EQ(paused.rows.size(), 1u);
  EXPECT_EQ(paused.next, 0u) << "an index has those that are paused";
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

TEST_F(HistoryIndexTest, tables_of_an_earlier_version_are_said_to_be_so) {
  open_.reset();
  for (const char* file : {"history.db", "history.db-wal", "history.db-journal"})
    static_cast<void>(disk_.remove(std::string("./world/") + file));
  {
    const auto process = env::posix_process();
    auto folder = WorldFolder::open(disk_, *random_, *process, "./world").take();
    auto database = open_world_database(folder, "history.db", R"(
        CREATE TABLE cursor(
          one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,
          begins INTEGER NOT NULL, record INTEGER NOT NULL, hash BLOB NOT NULL,
          last_id INTEGER NOT NULL))");
    ASSERT_TRUE(database) << database.error().to_string();
    ASSERT_TRUE(database->database.run("INSERT INTO cursor VALUES (1, 2, 1, 7, x'00', 3)"));
  }
  const auto opened = open_history(disk_, *random_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().to_string(),
            "./world/history.db: has tables of version 2, and this program knows version 4");
  EXPECT_TRUE(needs_rebuild(opened.error()));
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

}  // namespace
}  // namespace holdfast::store::testing
