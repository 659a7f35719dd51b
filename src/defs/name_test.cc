// SPDX-License-Identifier: Apache-2.0
#include "defs/name.h"

#include <gtest/gtest.h>

namespace holdfast::defs {
namespace {

TEST(Name, namespace_name_and_version_from_1_is_a_name) {
  for (const char* name : {"shop/Order@1", "com.acme/Order.placed@2", "a/a@1", "a/Z@9",
                           "x-1_y.z/a-b_c.D9@10", "sys/timer.set@1", "a/a@4294967295"}) {
    EXPECT_EQ(name_problem(name).value_or(""), "") << name;
  }
}

TEST(Name, what_is_wrong_with_a_name_is_said) {
  const std::string form = "is not a name of the form namespace/name@version";
  const std::string bad_namespace =
      "has a bad namespace: lower-case letters, digits, '.', '_', '-', a letter first";
  const std::string bad_version = "has a bad version: a whole number from 1 after the '@'";
  const std::string bad_part =
      "has a bad name part: letters, digits, '.', '_', '-', a letter first";
  const std::pair<std::string, std::string> cases[] = {
      {"", form},
      {"a", form},
      {"a/b", form},
      {"a@1", form},
      {"a@1/b", form},
      {"/b@1", bad_namespace},
      {"A/b@1", bad_namespace},
      {"1a/b@1", bad_namespace},
      {".a/b@1", bad_namespace},
      {"a b/c@1", bad_namespace},
      {"\xc3\xa4/b@1", bad_namespace},
      {"a/b@", bad_version},
      {"a/b@0", bad_version},
      {"a/b@01", bad_version},
      {"a/b@-1", bad_version},
      {"a/b@1.0", bad_version},
      {"a/b@1 ", bad_version},
      {"a/b@x", bad_version},
      {"a/b@4294967296", bad_version},
      {"a/b@10000000000", bad_version},
      {"a/b@2_wasm", bad_version},
      {"a/@1", bad_part},
      {"a/1b@1", bad_part},
      {"a/b/c@1", bad_part},
      {"a/b@1@1", bad_part},
      {"a/b c@1", bad_part},
      {std::string("a/b\0c@1", 7), bad_part},
  };
  for (const auto& [name, problem] : cases) {
    EXPECT_EQ(name_problem(name).value_or("nothing"), "'" + name + "' " + problem);
  }
}

TEST(Name, a_name_has_at_most_255_bytes) {
  const std::string longest = "a/" + std::string(kMaxNameBytes - 4, 'b') + "@1";
  EXPECT_EQ(name_problem(longest).value_or(""), "");
  EXPECT_EQ(name_problem(longest + "1").value_or(""), "a name has at most 255 bytes");
}

TEST(Name, only_the_namespace_sys_is_reserved) {
  EXPECT_TRUE(is_reserved("sys/timer.set@1"));
  for (const char* name : {"sys.x/a@1", "system/a@1", "a.sys/a@1", "Sys/a@1", "sys", ""}) {
    EXPECT_FALSE(is_reserved(name)) << name;
  }
}

}  // namespace
}  // namespace holdfast::defs
