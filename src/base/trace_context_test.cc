// SPDX-License-Identifier: Apache-2.0
#include "base/trace_context.h"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

constexpr std::string_view kTraceText = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, is_read_and_written_as_w3c_has_it) {
  const auto context = TraceContext::parse(kTraceText);
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(context->to_text(), kTraceText);
  EXPECT_EQ(context->flags, 1);
  EXPECT_EQ(context->to_bytes().size(), TraceContext::kBytes);
  EXPECT_EQ(TraceContext::of(context->to_bytes()), context);
}

TEST(TraceContext, of_a_later_version_what_is_known_is_taken) {
  const std::string later = "cc" + std::string(kTraceText.substr(2));
  EXPECT_EQ(TraceContext::parse(later), TraceContext::parse(kTraceText));
  EXPECT_EQ(TraceContext::parse(later + "-what-else"), TraceContext::parse(kTraceText));
}

TEST(TraceContext, what_is_none_is_not_taken_for_one) {
  const std::string text(kTraceText);
  const auto with = [&](std::size_t at, std::string_view other) {
    return std::string(text).replace(at, other.size(), other);
  };
  const std::string wrong[] = {
      "",
      text.substr(0, 54),
      text + "-",
      text + "0",
      with(0, "ff"),
      with(0, "0g"),
      with(2, "_"),
      with(3, "4BF9"),
      with(3, std::string(32, '0')),
      with(35, "0"),
      with(36, std::string(16, '0')),
      with(53, "x1"),
      "cc" + text.substr(2) + "more",
  };
  for (const std::string& one : wrong) EXPECT_EQ(TraceContext::parse(one), std::nullopt) << one;
  EXPECT_EQ(TraceContext::of(Bytes(25)), std::nullopt);
  EXPECT_EQ(TraceContext::of(Bytes(24, 1)), std::nullopt);
}

}  // namespace
}  // namespace holdfast::base
