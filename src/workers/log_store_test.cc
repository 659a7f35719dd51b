// SPDX-License-Identifier: Apache-2.0
#include "workers/log_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::workers {
namespace {

using ::testing::ElementsAre;

std::vector<LogLine> lines(std::initializer_list<const char*> texts) {
  std::vector<LogLine> made;
  for (const char* text : texts) made.push_back({1, false, text});
  return made;
}

std::vector<std::string> texts_of(const LogStore& store, std::uint64_t after = 0) {
  std::vector<std::string> texts;
  const auto part = store.read("g/0", after, 1000);
  for (const LogEntry& entry : part->entries) texts.push_back(entry.line.text);
  return texts;
}

TEST(LogStore, lines_that_come_again_are_taken_once) {
  LogStore store;
  EXPECT_EQ(store.append("g/0", 7, 1, 0, lines({"a", "b"})), 2u);
  EXPECT_EQ(store.append("g/0", 7, 1, 1, lines({"b", "c"})), 3u);
  EXPECT_THAT(texts_of(store), ElementsAre("a", "b", "c"));
  EXPECT_THAT(texts_of(store, 2), ElementsAre("c"));
}

TEST(LogStore, a_gap_is_counted_with_the_line_after_it) {
  LogStore store;
  store.append("g/0", 7, 1, 0, lines({"a"}));
  store.append("g/0", 7, 1, 5, lines({"f"}));
  EXPECT_EQ(store.read("g/0", 1, 10)->entries.at(0).missing, 4u);
}

TEST(LogStore, the_next_attempt_numbers_its_lines_anew) {
  LogStore store;
  store.append("g/0", 7, 1, 0, lines({"a", "b"}));
  store.append("g/0", 9, 2, 0, lines({"c"}));
  EXPECT_THAT(texts_of(store), ElementsAre("a", "b", "c"));
  EXPECT_EQ(store.read("g/0", 2, 10)->entries.at(0).attempt, 2u);
}

TEST(LogStore, the_oldest_lines_of_a_task_go_first) {
  LogStore store({.lines_of_task = 2});
  store.append("g/0", 7, 1, 0, lines({"a", "b", "c"}));
  EXPECT_THAT(texts_of(store), ElementsAre("b", "c"));
  EXPECT_EQ(store.read("g/0", 0, 10)->first, 2u);
}

TEST(LogStore, the_log_that_was_written_to_longest_ago_goes_when_memory_is_short) {
  LogStore store({.bytes = 400});
  for (const char* task : {"g/0", "g/1", "g/2", "g/3", "g/4", "g/5"})
    store.append(task, 7, 1, 0, lines({"0123456789"}));
  EXPECT_FALSE(store.read("g/0", 0, 10));
  EXPECT_TRUE(store.read("g/5", 0, 10));
  EXPECT_LE(store.bytes(), 400u);
}

TEST(LogStore, a_reader_is_woken_by_a_line_and_by_a_nudge) {
  LogStore store;
  int woken = 0;
  const auto wake = [&] {
    for (const auto& reader : store.take_woken()) reader();
  };
  EXPECT_TRUE(store.wait("g/0", 0, [&] { ++woken; }));
  store.append("g/0", 7, 1, 0, lines({"a"}));
  wake();
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(store.wait("g/0", 0, [&] { ++woken; })) << "there is something already";
  EXPECT_TRUE(store.wait("g/0", 1, [&] { ++woken; }));
  store.nudge("g/0");
  wake();
  EXPECT_EQ(woken, 2);
}

}  // namespace
}  // namespace holdfast::workers
