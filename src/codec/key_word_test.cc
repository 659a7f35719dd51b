// SPDX-License-Identifier: Apache-2.0
#include "codec/key_word.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace holdfast::codec {
namespace {

TEST(KeyWord, keys_that_a_path_can_have_stand_for_themselves) {
  for (const char* key : {"~~E2~82~AC", "~~C3~A4", "o-1", "-", "...", ".a", "a..", "~foo", "~...",
                          "~~", "~~7e", "~~41", "a~", "a~0A", "%2e", "ä/b c"}) {
    EXPECT_EQ(word_of_key(key), key);
    EXPECT_EQ(text_of_key(key), key);
  }
}

TEST(KeyWord, keys_that_no_path_can_have_are_written_behind_a_tilde) {
  const std::vector<std::pair<std::string, std::string>> words{
      {"", "~"},
      {".", "~."},
      {"..", "~.."},
      {"a\nb", "~a~0Ab"},
      {"\x7f", "~~7F"},
      {std::string(1, '\0'), "~~00"},
      {"~", "~~7E"},
      {"~.", "~~7E."},
      {"~..", "~~7E.."},
      {"~~7E", "~~7E~7E7E"},
      {"\u202ew", "~~E2~80~AEw"},
      {"a\u2028", "~a~E2~80~A8"},
      {"\u009b", "~~C2~9B"},
      {"~~E2~80~AEw", "~~7E~7EE2~7E80~7EAEw"}};
  for (const auto& [key, word] : words) {
    EXPECT_EQ(word_of_key(key), word);
    EXPECT_EQ(text_of_key(word), key);
  }
}

// All texts of up to five of the characters that matter.
TEST(KeyWord, every_key_has_a_word_of_its_own_that_a_path_can_have) {
  const std::string_view characters = "~.7E0A\na";
  std::vector<std::string> keys{""};
  for (std::size_t begin = 0, length = 1; length <= 5; ++length) {
    const std::size_t end = keys.size();
    for (; begin < end; ++begin)
      for (const char c : characters) keys.push_back(keys[begin] + c);
  }
  std::set<std::string> words;
  for (const std::string& key : keys) {
    const std::string word = word_of_key(key);
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_EQ(text_of_key(word), key) << word;
    EXPECT_TRUE(!word.empty() && word != "." && word != ".." &&
                word.find('\n') == std::string::npos)
        << word;
  }
}

}  // namespace
}  // namespace holdfast::codec
