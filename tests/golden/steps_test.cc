// SPDX-License-Identifier: Apache-2.0
// Journals of step workflows that were written once (README.md), with the code of today.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>

#include "tests/golden/loop_journal.h"
#include "tests/golden/world_journal.h"

namespace holdfast::golden {
namespace {

// By version.
std::map<int, Lines> journals(const std::string& kind) {
  std::map<int, Lines> all;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kind + "-")) continue;
    int version = 0;
    const char* const begin = name.data() + kind.size() + 1;
    std::from_chars(begin, name.data() + name.size(), version);
    EXPECT_EQ(name, kind + "-" + std::to_string(version) + ".txt");
    const auto lines = read_lines(entry.path().string());
    EXPECT_TRUE(lines) << name;
    if (lines) all.emplace(version, *lines);
  }
  EXPECT_FALSE(all.empty()) << "there is no " << kind << " journal";
  return all;
}

std::size_t count_of(const Lines& lines, std::string_view word) {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [&](const Line& line) { return line.word == word; }));
}

// The first error, or nothing.
std::optional<std::string> replay_world(const Lines& lines) {
  Stage stage;
  Lines behind;
  std::size_t next = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string place = "line " + std::to_string(at);
    if (lines[at].word == "state") {
      if (next == behind.size()) return place + ": no such state is there";
      if (lines[at] != behind[next]) return place + ": it is " + behind[next].text;
      ++next;
      continue;
    }
    if (lines[at].word != "record" || next != behind.size())
      return place + ": not what stands there";
    const auto record = base::from_hex(lines[at].text);
    if (!record) return place + ": it is not hex";
    const auto outcome = stage.world.replay(*record);
    if (!outcome) return place + ": " + outcome.error().to_string();
    behind = states_behind(stage.world, *record);
    next = 0;
  }
  if (const auto fits = stage.world.check_code(); !fits) return fits.error().to_string();
  return std::nullopt;
}

// Until then entries were written as sys/StepEntry@1.
constexpr int kFirstWithAttempts = 4;
constexpr int kFirstWithRepeats = 5;

StepRules rules_of(int version) {
  if (version < kFirstWithAttempts) return StepRules::kKeepsEarly;
  return version < kFirstWithRepeats ? StepRules::kTellsAttempts : StepRules::kNewest;
}

// An entry of a file as it is written today.
Line as_of_today(const Line& line) {
  if (line.word != "entry") return line;
  const auto bytes = base::from_hex(line.text);
  StepEntry entry;
  if (!bytes) return line;
  Reader in(*bytes);
  if (!detail::Form<StepEntry>::read(in, entry)) return line;
  return bytes_line("entry", detail::bytes_of_value(entry));
}

std::optional<std::string> replay_loop(const Lines& lines, int version) {
  const bool is_older = version < kFirstWithAttempts;
  LoopReplay replay(rules_of(version));
  for (std::size_t at = 0; at < lines.size();) {
    const std::string place = "line " + std::to_string(at);
    const auto input = base::from_hex(lines[at].text);
    if (lines[at].word != "input" || !input) return place + ": it is no input";
    const auto behind = replay.take(*input);
    if (!behind) return place + ": " + behind.error().message;
    ++at;
    for (const Line& line : *behind) {
      if (at == lines.size() || (is_older ? as_of_today(lines[at]) : lines[at]) != line)
        return place + ": " + line.word + " " + line.text + " comes of it";
      ++at;
    }
  }
  return std::nullopt;
}

TEST(GoldenSteps, a_world_comes_to_the_same_records_and_states) {
  for (const auto& [version, lines] : journals("world")) {
    EXPECT_EQ(replay_world(lines), std::nullopt) << version;
    EXPECT_GT(count_of(lines, "record"), 20U) << version;
    EXPECT_GT(count_of(lines, "state"), 20U) << version;
  }
}

TEST(GoldenSteps, a_loop_comes_to_the_same_entries_and_states) {
  for (const auto& [version, lines] : journals("loop")) {
    EXPECT_EQ(replay_loop(lines, version), std::nullopt) << version;
    EXPECT_GT(count_of(lines, "input"), 10U) << version;
    EXPECT_GT(count_of(lines, "entry"), 10U) << version;
  }
}

// Definitions that are made of the same types are the same, and a world goes on without other ones.
TEST(GoldenSteps, the_newest_is_what_is_written_today) {
  const char* const how =
      "what is written has changed: is it meant to? Then tests/golden/README.md";
  EXPECT_TRUE(journals("world").rbegin()->second == write_world_journal()) << how;
  EXPECT_TRUE(journals("loop").rbegin()->second == write_loop_journal()) << how;
}

TEST(GoldenSteps, runs_end_in_every_way) {
  std::vector<std::string> endings;
  const Lines lines = journals("world").rbegin()->second;
  for (const Line& line : lines) {
    const std::string shown = line.text.substr(0, line.text.find(" state "));
    const std::string status = shown.substr(shown.rfind(' ') + 1);
    if (status == "completed" || status == "cancelled" || status == "failed")
      endings.push_back(shown);
  }
  const std::vector<std::string> wanted = {
      R"(golden/Review@1 "t-1/review" completed)", R"(golden/Trip@1 "t-1" completed)",
      R"(golden/Trip@1 "t-2" cancelled)", R"(golden/Review@1 "t-2/review" cancelled)",
      R"(golden/Trip@1 "t-3" failed)"};
  EXPECT_EQ(endings, wanted);
}

TEST(GoldenSteps, a_change_anywhere_is_found) {
  const Lines world = journals("world").rbegin()->second;
  const Lines loop = journals("loop").rbegin()->second;
  for (std::size_t at = 0; at < world.size(); ++at) {
    Lines changed = world;
    char& digit = changed[at].text[changed[at].text.size() - 3];
    digit = digit == '0' ? '1' : '0';
    EXPECT_NE(replay_world(changed), std::nullopt) << at;
  }
  for (std::size_t at = 0; at < loop.size(); ++at) {
    if (loop[at].word == "input") continue;  // another input may be one that comes to the same
    Lines changed = loop;
    char& digit = changed[at].text.back();
    digit = digit == '0' ? '1' : '0';
    EXPECT_NE(replay_loop(changed, kFirstWithAttempts), std::nullopt) << at;
  }
}

}  // namespace
}  // namespace holdfast::golden
