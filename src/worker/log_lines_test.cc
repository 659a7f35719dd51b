// SPDX-License-Identifier: Apache-2.0
#include "worker/log_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "worker/limits.h"
#include "worker/line_splitter.h"

namespace holdfast::work {
namespace {

std::vector<LogPart> taken(LogLines& logs, std::size_t entries = 256, std::size_t bytes = kMiB) {
  std::vector<LogPart> parts;
  logs.take_all(entries, bytes, parts);
  return parts;
}

TEST(LogLines, are_numbered_and_sent_once_until_they_are_to_be_sent_again) {
  LogLines logs;
  logs.add("d", 1, false, "one");
  logs.add("d", 2, true, "two");
  auto parts = taken(logs);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].from, 0u);
  ASSERT_EQ(parts[0].lines.size(), 2u);
  EXPECT_EQ(parts[0].lines[1].text, "two");
  EXPECT_TRUE(parts[0].lines[1].is_error);
  EXPECT_FALSE(logs.has_unsent());
  EXPECT_TRUE(taken(logs).empty());
  logs.resend();
  EXPECT_TRUE(logs.has_unsent("d"));
  logs.acknowledge("d", 1);
  parts = taken(logs);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].from, 1u);
  logs.acknowledge("d", 2);
  logs.resend();
  EXPECT_FALSE(logs.has_unsent());
}

TEST(LogLines, beyond_the_bound_the_oldest_go_and_the_numbers_show_the_gap) {
  LogLines logs;
  for (std::size_t i = 0; i < kMaxWaitingLines + 10; ++i) logs.add("d", i, false, "x");
  const auto parts = taken(logs);
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].from, 10u);
  std::size_t lines = 0;
  for (const LogPart& part : parts) {
    EXPECT_LE(part.lines.size(), kMaxLinesOfEntry);
    EXPECT_EQ(part.from, 10 + lines);
    lines += part.lines.size();
  }
  EXPECT_EQ(lines, kMaxWaitingLines);
}

TEST(LogLines, that_do_not_fit_into_a_request_wait_for_the_next_one) {
  LogLines logs;
  for (int i = 0; i < 10; ++i) logs.add("d", 1, false, std::string(1000, 'x'));
  const auto parts = taken(logs, 256, 3500);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].lines.size(), 3u);
  EXPECT_TRUE(logs.has_unsent("d"));
  const auto rest = taken(logs);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].from, 3u);
  EXPECT_EQ(rest[0].lines.size(), 7u);
}

TEST(LogLines, a_long_line_is_cut_at_a_character_and_bytes_that_are_no_text_become_text) {
  LogLines logs;
  logs.add("d", 1, false, std::string(kMaxLineBytes - 1, 'x') + "\xc3\xa4rger");
  logs.add("d", 1, false, "caf\xe9");
  const auto parts = taken(logs);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].lines[0].text, std::string(kMaxLineBytes - 1, 'x'));
  EXPECT_EQ(parts[0].lines[1].text, "caf\xc3\xa9");
}

std::vector<std::string> split(LineSplitter& splitter,
                               std::initializer_list<std::string_view> all) {
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string_view bytes : all) splitter.add(bytes, take);
  splitter.finish(take);
  return lines;
}

TEST(LineSplitter, makes_lines_of_pieces_and_gives_the_rest_at_the_end) {
  LineSplitter splitter(100);
  EXPECT_EQ(split(splitter, {"a", "b\n\nc\r\n", "last"}),
            (std::vector<std::string>{"ab", "", "c", "last"}));
}

TEST(LineSplitter, gives_a_line_that_is_too_long_in_pieces) {
  LineSplitter splitter(4);
  EXPECT_EQ(split(splitter, {"12345678\n", "1234\nx"}),
            (std::vector<std::string>{"1234", "5678", "1234", "x"}));
}

}  // namespace
}  // namespace holdfast::work
