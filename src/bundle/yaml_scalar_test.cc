// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml_scalar.h"

#include <gtest/gtest.h>

namespace holdfast::bundle {
namespace {

constexpr char kText[] = "a text";
constexpr char kNoForm[] = "no form in JSON";

std::string meaning(std::string_view scalar) {
  const auto json = plain_scalar_to_json(scalar);
  if (!json) return kText;
  return json->empty() ? kNoForm : *json;
}

TEST(YamlScalar, means_what_the_core_schema_of_yaml_1_2_says) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "null"},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"nUll", kText},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"false", "false"},
      {"False", "false"},
      {"FALSE", "false"},
      {"tRue", kText},
      {"yes", kText},
      {"no", kText},
      {"on", kText},
      {"off", kText},
      {"y", kText},
      {"0", "0"},
      {"-0", "-0"},
      {"+1", "1"},
      {"-12", "-12"},
      {"007", "7"},
      {"-007", "-7"},
      {"000", "0"},
      {"18446744073709551616", "18446744073709551616"},
      {"1_000", kText},
      {"1 000", kText},
      {"1,000", kText},
      {"0b1", kText},
      {"0x1F", "31"},
      {"0xff", "255"},
      {"0xffffffffffffffff", "18446744073709551615"},
      {"0x10000000000000000", kNoForm},
      {"0x", kText},
      {"0xg", kText},
      {"0x-1", kText},
      {"-0x1", kText},
      {"0X1F", kText},
      {"0o17", "15"},
      {"0o8", kText},
      {"017", "17"},
      {"1.5", "1.5"},
      {"1.", "1.0"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"+.5", "0.5"},
      {"01.50", "1.50"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"1e+3", "1e+3"},
      {"1.e-3", "1.0e-3"},
      {".5e1", "0.5e1"},
      {"1e", kText},
      {"1e+", kText},
      {"e1", kText},
      {".", kText},
      {".e1", kText},
      {"-", kText},
      {"+", kText},
      {"--1", kText},
      {"1.2.3", kText},
      {"1:30", kText},
      {"2001-01-01", kText},
      {".inf", kNoForm},
      {"-.Inf", kNoForm},
      {"+.INF", kNoForm},
      {".nan", kNoForm},
      {".NaN", kNoForm},
      {"-.nan", kText},
      {"inf", kText},
      {"nan", kText},
      {"<<", kText},
      {"=", kText},
      {" ", kText},
  };
  for (const auto& [scalar, expected] : cases) EXPECT_EQ(meaning(scalar), expected) << scalar;
}

}  // namespace
}  // namespace holdfast::bundle
