// SPDX-License-Identifier: Apache-2.0
#include "tasks/close_word.h"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::tasks {
namespace {

TEST(CloseWord, two_letters_may_differ_and_one_in_short_words) {
  constexpr std::array<std::string_view, 4> kWords{"dependsOn", "name", "spec", "foreach"};
  const std::pair<const char*, const char*> cases[] = {
      {"dependsOn", "dependsOn"},
      {"depends_on", "dependsOn"},
      {"dependson", "dependsOn"},
      {"dependOn", "dependsOn"},
      {"nmae", "name"},
      {"names", "name"},
      {"sepc", "spec"},
      {"forEach", "foreach"},
      {"", ""},
      {"xy", ""},
      {"nodes", ""},
      {"dep", ""},
  };
  for (const auto& [word, meant] : cases) {
    const std::string expected =
        *meant == '\0' ? "" : "; did you mean '" + std::string(meant) + "'?";
    EXPECT_EQ(did_you_mean(word, kWords), expected) << word;
  }
}

TEST(CloseWord, a_very_long_word_is_close_to_nothing) {
  const std::string word(100'000, 'a');
  EXPECT_EQ(did_you_mean(word, std::array{std::string(100'000, 'a')}), "");
}

}  // namespace
}  // namespace holdfast::tasks
