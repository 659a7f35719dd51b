// SPDX-License-Identifier: Apache-2.0
#include "tasks/amounts.h"

#include <gtest/gtest.h>

#include "tasks/limits.h"
#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using Amount = std::optional<std::uint64_t>;

template <class Read>
Amount read(Read function, std::string_view json) {
  const base::Bytes value = testing::value_of(json);
  return function(codec::View::of(value));
}

TEST(Amounts, memory_has_units_of_both_kinds) {
  const std::pair<const char*, Amount> cases[] = {
      {R"("256Mi")", 268435456},
      {R"("1Gi")", 1073741824},
      {R"("16GB")", 16'000'000'000},
      {R"("24GiB")", 25769803776},
      {R"("1.5Gi")", 1610612736},
      {R"("512")", 512},
      {"1024", 1024},
      {R"("0.5k")", 500},
      {R"("100K")", 100'000},
      {R"("8Pi")", kMaxMemoryBytes},
      {R"("9Pi")", std::nullopt},
      {R"("0.0001k")", std::nullopt},
      {R"("1.5")", std::nullopt},
      {R"("Mi")", std::nullopt},
      {R"("1 Gi")", std::nullopt},
      {R"("-1Gi")", std::nullopt},
      {R"("1gi")", std::nullopt},
      {R"("")", std::nullopt},
      {"1.5", std::nullopt},
      {"-1", std::nullopt},
      {"true", std::nullopt},
      {R"("999999999999999999999Pi")", std::nullopt},
  };
  for (const auto& [text, bytes] : cases) EXPECT_EQ(read(memory_of, text), bytes) << text;
}

TEST(Amounts, processors_are_counted_in_thousandths) {
  const std::pair<const char*, Amount> cases[] = {
      {"2", 2000},
      {"0.5", 500},
      {R"("1")", 1000},
      {R"("500m")", 500},
      {R"("1.5")", 1500},
      {"0", 0},
      {R"("1.5m")", std::nullopt},
      {"0.0005", std::nullopt},
      {"-1", std::nullopt},
      {R"("two")", std::nullopt},
      {"1e30", std::nullopt},
      {"null", std::nullopt},
  };
  for (const auto& [text, milli] : cases) EXPECT_EQ(read(cpu_milli_of, text), milli) << text;
}

TEST(Amounts, a_duration_has_a_unit_and_is_more_than_nothing) {
  const std::pair<const char*, Amount> cases[] = {
      {R"("90s")", 90'000'000'000}, {R"("1ms")", 1'000'000},   {R"("366d")", kMaxDurationNs},
      {R"("367d")", std::nullopt},  {R"("0s")", std::nullopt}, {R"("-1s")", std::nullopt},
      {"90", std::nullopt},         {R"("90")", std::nullopt},
  };
  for (const auto& [text, nanoseconds] : cases)
    EXPECT_EQ(read(duration_ns_of, text), nanoseconds) << text;
}

}  // namespace
}  // namespace holdfast::tasks
