// SPDX-License-Identifier: Apache-2.0
#include "cli/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LogLine line(std::string message) {
  return {LogLevel::kWarning,
          "step.failed",
          std::move(message),
          {{"instance", "demo/Order@1/o 1"}, {"code", "busy"}}};
}

TEST(Log, a_plain_sentence_stands_as_it_is) {
  EXPECT_THAT(
      text_of_line(line("a step failed: busy"), 0),
      HasSubstr(R"(WARN  a step failed: busy event=step.failed instance="demo/Order@1/o 1" )"
                "code=busy"));
}

TEST(Log, a_sentence_that_looks_like_fields_is_quoted) {
  const std::string text = text_of_line(line("busy event=fake code=none \"x"), 0);
  EXPECT_THAT(text, HasSubstr(R"(WARN  "busy event=fake code=none \"x" event=step.failed)"));
}

TEST(Log, what_turns_a_text_around_or_ends_its_line_is_escaped) {
  const LogLine hostile = line("a\u202eb\u2028c\u009bd\ne\u2066");
  for (const std::string& text : {text_of_line(hostile, 0), json_of_line(hostile, 0)}) {
    for (const char* raw : {"\u202e", "\u2028", "\u009b", "\n", "\u2066"})
      EXPECT_THAT(text, Not(HasSubstr(raw)));
    EXPECT_THAT(text, HasSubstr(R"(a\u202eb\u2028c\u009bd\ne\u2066)"));
  }
}

}  // namespace
}  // namespace holdfast::cli
