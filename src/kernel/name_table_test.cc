// SPDX-License-Identifier: Apache-2.0
#include "kernel/name_table.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::kernel {
namespace {

TEST(NameTable, has_nothing_at_first) {
  const NameTable<int> table;
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_EQ(table.find("a/A@1"), nullptr);
}

TEST(NameTable, finds_what_was_put_in_and_nothing_else) {
  NameTable<std::size_t> table;
  for (std::size_t size = 0; size < 300; ++size) {  // each the beginning of the next
    const std::string name(size, 'n');
    EXPECT_EQ(table.find(name), nullptr) << size;
    EXPECT_EQ(table.emplace(name, size).second, size);
    for (std::size_t before = 0; before <= size; ++before) {
      const auto* found = table.find(std::string(before, 'n'));
      ASSERT_NE(found, nullptr) << before;
      ASSERT_EQ(found->second, before);
      ASSERT_EQ(found->first.size(), before);
    }
  }
}

TEST(NameTable, what_is_there_stays) {
  NameTable<int> table;
  table.emplace("a/A@1", 1);
  EXPECT_EQ(table.emplace("a/A@1", 2).second, 1);
  EXPECT_EQ(table.find("a/A@1")->second, 1);
}

// Names that begin and end alike, as generated ones do.
TEST(NameTable, many_names_that_are_alike_are_found) {
  NameTable<int> table;
  const auto name = [](int i) { return "generated/TheSame" + std::to_string(i) + "AtBothEnds@1"; };
  for (int i = 0; i < 20'000; ++i) table.emplace(name(i), i);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(table.find(name(i))->second, i);
  EXPECT_EQ(table.find(name(20'000)), nullptr);
}

}  // namespace
}  // namespace holdfast::kernel
