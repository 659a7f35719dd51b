// SPDX-License-Identifier: Apache-2.0
#include "gateway/target.h"

#include <gtest/gtest.h>

namespace holdfast::gateway {
namespace {

TEST(Target, path_and_query_are_decoded_after_they_are_taken_apart) {
  Target target;
  ASSERT_TRUE(target.parse("/v1/instances/demo%2FOrder@1/o%201?from=3&limit=%31"));
  ASSERT_EQ(target.segments(), 4u);
  EXPECT_EQ(target.segment(2), "demo/Order@1");
  EXPECT_EQ(target.segment(3), "o 1");
  EXPECT_EQ(*target.find("limit"), "1");
  EXPECT_EQ(*target.find("from"), "3");
  EXPECT_EQ(target.find("other"), nullptr);
}

TEST(Target, the_root_has_no_parts) {
  Target target;
  ASSERT_TRUE(target.parse("/"));
  EXPECT_EQ(target.segments(), 0u);
  ASSERT_TRUE(target.parse("/?"));
}

TEST(Target, what_could_mean_something_else_is_refused) {
  Target target;
  for (const char* bad : {"",           "v1",
                          "*",          "http://x/",
                          "//",         "/a//b",
                          "/a/",        "/.",
                          "/..",        "/a/../b",
                          "/%2e%2e/b",  "/%2E",
                          "/a%",        "/a%2",
                          "/a%zz",      "/a%00",
                          "/a%0a",      "/a%7f",
                          "/%ff",       "/%c0%af",
                          "/a#b",       "/a?=1",
                          "/a?b=1&b=2", "/a?b&&c",
                          "/a?b=%00",   "/1/2/3/4/5/6/7/8/9/10/11/12/13"})
    EXPECT_FALSE(target.parse(bad)) << bad;
}

TEST(Target, its_memory_is_used_again_and_nothing_is_left_over) {
  Target target;
  ASSERT_TRUE(target.parse("/a/b/c?x=1"));
  ASSERT_TRUE(target.parse("/d"));
  EXPECT_EQ(target.segments(), 1u);
  EXPECT_EQ(target.find("x"), nullptr);
}

}  // namespace
}  // namespace holdfast::gateway
