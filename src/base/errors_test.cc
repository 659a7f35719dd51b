// SPDX-License-Identifier: Apache-2.0
#include "base/errors.h"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

Errors numbered(std::size_t first, std::size_t count) {
  Errors errors;
  for (std::size_t i = 0; i < count; ++i) errors.push_back(invalid("", std::to_string(first + i)));
  return errors;
}

TEST(Errors, the_first_are_kept_and_all_are_counted) {
  EXPECT_TRUE(Errors().empty());
  const Errors errors = numbered(0, kMaxErrors + 7);
  EXPECT_FALSE(errors.empty());
  EXPECT_EQ(errors.size(), kMaxErrors);
  EXPECT_EQ(errors.reported(), kMaxErrors + 7);
  EXPECT_EQ(errors[0].message(), "0");
  EXPECT_EQ(errors[kMaxErrors - 1].message(), std::to_string(kMaxErrors - 1));
}

TEST(Errors, appending_keeps_the_order_and_the_count) {
  Errors errors = numbered(0, 2);
  errors.append(numbered(2, kMaxErrors + 7));
  EXPECT_EQ(errors.size(), kMaxErrors);
  EXPECT_EQ(errors.reported(), kMaxErrors + 9);
  std::size_t next = 0;
  for (const Error& error : errors) EXPECT_EQ(error.message(), std::to_string(next++));
}

}  // namespace
}  // namespace holdfast::base
