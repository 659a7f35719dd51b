// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace holdfast::base {
namespace {

Result<int> positive(int number) {
  if (number <= 0) return invalid("$", "is not positive");
  return number;
}

Result<int> sum(int a, int b) { return TRY(positive(a)) + TRY(positive(b)); }

Result<void> both_positive(int a, int b) {
  TRY(positive(a));
  TRY(positive(b));
  return {};
}

TEST(Result, holds_a_value) {
  Result<int> result = 3;
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, 3);
}

TEST(Result, holds_an_error) {
  Result<int> result = positive(-1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(result.error().to_string(), "$: is not positive");
}

TEST(Result, of_void_is_done_or_an_error) {
  EXPECT_TRUE(both_positive(1, 2));
  EXPECT_FALSE(both_positive(1, 0));
  EXPECT_FALSE(both_positive(0, 1));
}

TEST(Result, carries_what_can_only_be_moved) {
  Result<std::unique_ptr<std::string>> result = std::make_unique<std::string>("moved");
  EXPECT_EQ(result->get()->size(), 5U);
  std::unique_ptr<std::string> taken = std::move(result).take();
  EXPECT_EQ(*taken, "moved");
}

TEST(Result, costs_no_more_than_its_value_and_an_index) {
  static_assert(sizeof(Result<void>) == 2 * sizeof(void*));
  static_assert(sizeof(Result<std::string>) == sizeof(std::string) + sizeof(void*));
}

TEST(Try, yields_the_value) { EXPECT_EQ(*sum(1, 2), 3); }

TEST(Try, returns_the_first_error) {
  EXPECT_FALSE(sum(0, 2));
  EXPECT_FALSE(sum(1, 0));
}

TEST(Try, may_stand_inside_another) {
  auto nested = [](int number) -> Result<int> { return TRY(positive(TRY(positive(number)) - 1)); };
  EXPECT_EQ(*nested(2), 1);
  EXPECT_FALSE(nested(1));
  EXPECT_FALSE(nested(0));
}

TEST(Try, passes_an_error_on_to_another_type_of_result) {
  auto text = [](int number) -> Result<std::string> {
    return std::to_string(TRY(positive(number)));
  };
  EXPECT_EQ(*text(7), "7");
  EXPECT_EQ(text(0).error().message(), "is not positive");
}

TEST(ResultDeathTest, value_of_an_error_stops_the_process) {
  Result<int> result = positive(0);
  EXPECT_DEATH(result.value(), "has_value");
}

TEST(ResultDeathTest, error_of_a_value_stops_the_process) {
  Result<int> result = 1;
  EXPECT_DEATH(static_cast<void>(result.error()), "index\\(\\) == 1");
}

}  // namespace
}  // namespace holdfast::base
