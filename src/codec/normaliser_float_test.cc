// SPDX-License-Identifier: Apache-2.0
// Floats through the normaliser: one encoding per number, however the number was written.
#include <gtest/gtest.h>

#include <string>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;
using testing::schema_of;

// Between 2^54 and 2^55 every fourth integer is a double; these lie half way between two.
TEST(NormaliserFloat, a_large_integer_is_rounded_as_if_it_were_written_with_a_point) {
  const Schema schema = schema_of(R"({"float":{}})");
  for (const std::string digits :
       {"18014398509481990", "18014398509481986", "9007199254740993", "9223372036854775807",
        "18446744073709551615", "-18014398509481990", "-18014398509481986", "-9007199254740993",
        "-9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(encode(schema, digits), encode(schema, digits + ".0")) << digits;
  }
  EXPECT_EQ(recode(schema, "3bffffffffffffffff"), encode(schema, "-18446744073709551616.0"));
}

}  // namespace
}  // namespace holdfast::codec
