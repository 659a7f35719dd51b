// SPDX-License-Identifier: Apache-2.0
// The full text of the index: a row for each line.
#include <gmock/gmock.h>

#include "store/history_look.h"
#include "store/history_statements.h"
#include "store/testing_history_index.h"

namespace holdfast::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoryTextsTest : public HistoryIndexTest {
 protected:
  std::uint64_t count(const std::string& sql) {
    auto select = index().database().prepare(sql).take();
    EXPECT_TRUE(select.step().take());
    return select.nat(0);
  }
  std::uint64_t lines() { return count("SELECT count(*) FROM lines"); }
  std::uint64_t changes() { return count("SELECT total_changes()"); }

  // As programs had it before there were lines.
  void make_old() {
    std::string sql = "BEGIN; CREATE VIRTUAL TABLE said USING fts5(text);";
    for (const InstanceRow& each : index().list({}).take().rows) {
      const std::string text = index().annotations(each.id).take();
      if (text.empty()) continue;
      sql +=
          "INSERT INTO said(rowid, text) VALUES (" + std::to_string(each.id) + ", '" + text + "');";
    }
    sql += "DROP TABLE lines; DROP TABLE windows; UPDATE cursor SET version = 3; COMMIT";
    ASSERT_TRUE(index().database().run(sql));
  }
};

TEST_F(HistoryTextsTest, one_more_line_writes_as_much_behind_a_thousand_as_behind_ten) {
  const auto one_more = [this](int number) {
    const std::uint64_t before = changes();
    EXPECT_TRUE(apply({change("a", "running", {"line number " + std::to_string(number)})}));
    return changes() - before;
  };
  for (int i = 0; i < 10; ++i) one_more(i);
  const std::uint64_t behind_ten = one_more(10);
  for (int i = 11; i < 1000; ++i) one_more(i);
  EXPECT_LE(one_more(1000), behind_ten + 2);
  EXPECT_EQ(lines(), 1001u);
}

TEST_F(HistoryTextsTest, the_oldest_lines_go_in_however_many_portions_they_came) {
  std::vector<std::string> said;
  std::string expected;
  for (int i = 0; i < 3000; ++i)
    said.push_back("line " + std::to_string(i) +
                   std::string(static_cast<std::size_t>(i % 60), 'x'));
  for (const std::string& line : said) expected += line + "\n";
  expected.pop_back();
  while (expected.size() > kMaxAnnotationBytes) expected.erase(0, expected.find('\n') + 1);
  ASSERT_TRUE(apply({change("at once", "running", said)}));
  for (std::size_t i = 0; i < said.size(); i += 300)
    ASSERT_TRUE(apply(
        {change("in portions", "running",
                {said.begin() + static_cast<int>(i), said.begin() + static_cast<int>(i) + 300})}));
  for (const std::string& line : said)
    ASSERT_TRUE(apply({change("one by one", "running", {line})}));
  for (const char* key : {"at once", "in portions", "one by one"})
    EXPECT_EQ(*index().annotations(row(key).id), expected) << key;
  EXPECT_EQ(keys({.words = said.back()}).size(), 3u);
}

TEST_F(HistoryTextsTest, a_line_that_fills_the_room_alone_is_the_only_one) {
  ASSERT_TRUE(apply({change("a", "running", {"first"})}));
  ASSERT_TRUE(apply({change("a", "running", {std::string(kMaxAnnotationBytes, 'y')})}));
  EXPECT_EQ(index().annotations(row("a").id)->size(), kMaxAnnotationBytes);
  EXPECT_THAT(keys({.words = "first"}), IsEmpty());
  ASSERT_TRUE(apply({change("a", "running", {"third"})}));
  EXPECT_EQ(*index().annotations(row("a").id), "third");
}

TEST_F(HistoryTextsTest, words_of_different_lines_are_found_together_and_signs_do_not_count) {
  ASSERT_TRUE(apply({change("a", "running", {"red mug", "left side"}),
                     change("b", "running", {"red mug left"}), change("c", "running", {"left"})}));
  EXPECT_THAT(keys({.words = "red left"}), ElementsAre("b", "a"));
  EXPECT_THAT(keys({.words = "left mug side"}), ElementsAre("a"));
  EXPECT_THAT(keys({.words = "left -- red"}), ElementsAre("b", "a"));
  EXPECT_THAT(keys({.words = "--"}), IsEmpty());
}

TEST_F(HistoryTextsTest, pages_of_a_search_have_every_instance_once) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(apply({change("k" + std::to_string(i), i % 2 == 0 ? "failed" : "running",
                              {"apple", i % 3 == 0 ? "pear" : "plum", "apple again"})}));
  }
  HistoryQuery query{.status = "failed", .words = "apple pear", .limit = 5};
  std::vector<std::string> seen;
  for (int pages = 0; pages < 100; ++pages) {
    const HistoryPage page = index().list(query).take();
    for (const InstanceRow& each : page.rows) seen.push_back(each.key_text);
    if (page.next == 0) break;
    query.after = page.next;
  }
  std::vector<std::string> expected;
  for (int i = 96; i >= 0; i -= 6) expected.push_back("k" + std::to_string(i));
  EXPECT_EQ(seen, expected);
}

TEST_F(HistoryTextsTest, the_numbers_of_lines_begin_anew_before_they_end) {
  ASSERT_TRUE(apply({change("a", "running", {"one", "two"}), change("b", "running", {"other"})}));
  const std::string last = std::to_string((std::uint64_t{1} << kLineBits) - 2);
  ASSERT_TRUE(index().database().run(
      "BEGIN; DELETE FROM lines WHERE rowid >> 20 = 1;"
      "INSERT INTO lines(rowid, text) VALUES ((1 << 20) + " +
      last + ", 'one'), ((1 << 20) + " + last + " + 1, 'two'); UPDATE windows SET first = " + last +
      ", next = " + last + " + 2 WHERE instance = 1; COMMIT"));
  ASSERT_TRUE(apply({change("a", "running", {"three", "four"})}));
  EXPECT_EQ(*index().annotations(row("a").id), "one\ntwo\nthree\nfour");
  EXPECT_EQ(*index().annotations(row("b").id), "other");
  EXPECT_THAT(keys({.words = "one four"}), ElementsAre("a"));
}

TEST_F(HistoryTextsTest, an_index_of_the_version_before_is_migrated_when_it_is_opened) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(apply({change(
        "k" + std::to_string(i), "running",
        i % 5 == 0 ? std::vector<std::string>()
                   : std::vector<std::string>{"word " + std::to_string(i), "second line"})}));
  }
  const auto before = everything(index());
  const HistoryCursor cursor = index().cursor();
  make_old();
  open_->index.reset();
  const auto looked = look_at_history(WorldPlace::of(open_->folder));
  ASSERT_TRUE(looked) << looked.error().to_string();
  EXPECT_EQ(**looked, cursor);
  open();
  EXPECT_EQ(index().cursor(), cursor);
  EXPECT_EQ(everything(index()), before);
  EXPECT_EQ(count("SELECT version FROM cursor"), kHistoryVersion);
  EXPECT_EQ(count("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'said%'"), 0u);
  EXPECT_THAT(keys({.words = "7 second"}), ElementsAre("k7"));
  ASSERT_TRUE(apply({change("k7", "running", {"third"})}));
  EXPECT_EQ(*index().annotations(row("k7").id), "word 7\nsecond line\nthird");
}

}  // namespace
}  // namespace holdfast::store::testing
