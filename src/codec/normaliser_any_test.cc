// SPDX-License-Identifier: Apache-2.0
// `any`: whatever JSON can say, and nothing that it cannot.
#include <gtest/gtest.h>

#include <string>

#include "codec/json_writer.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::encode;
using testing::recode;

struct AnyCase {
  std::string_view in;
  std::string_view expected;  // canonical bytes, or the error
};

TEST(NormaliserAny, keeps_integers_and_floats_apart) {
  const AnyCase cases[] = {
      {"1", "01"},
      {"1.0", "f93c00"},
      {"1e0", "f93c00"},
      {"-0", "00"},
      {"-0.0", "f98000"},
      {"18446744073709551615", "1bffffffffffffffff"},
      {"-9223372036854775808", "3b7fffffffffffffff"},
      {"18446744073709551616", "$: the integer does not fit 64 bits; write it as text"},
      {"-9223372036854775809", "$: the integer does not fit 64 bits; write it as text"},
      {"18446744073709551616.0", "fa5f800000"},
      {"1e400", "$: the number does not fit a float"},
      {"\"NaN\"", "634e614e"},
  };
  for (const auto& [json, expected] : cases)
    EXPECT_EQ(encode(Schema::any(), json), expected) << json;
}

TEST(NormaliserAny, does_not_read_meaning_into_maps) {
  EXPECT_EQ(encode(Schema::any(), R"({"$bytes":"AQ=="})"), "a1662462797465736441513d3d");
  EXPECT_EQ(encode(Schema::any(), R"({"$value":1,"$tag":"A"})"),
            "a264247461676141662476616c756501");
  EXPECT_EQ(encode(Schema::any(), R"(["b","a","b"])"), "83616261616162");
}

TEST(NormaliserAny, refuses_what_json_cannot_say) {
  const AnyCase cases[] = {
      {"4101", "$: expected a JSON value, got bytes"},
      {"f7", "$: expected a JSON value, got simple value"},
      {"e0", "$: expected a JSON value, got simple value"},
      {"c001", "$: expected a JSON value, got tag"},
      {"81c001", "$[0]: expected a JSON value, got tag"},
      {"f97e00", "$: NaN and infinity are not JSON values"},
      {"a16161f97c00", "$.a: NaN and infinity are not JSON values"},
      {"fbfff0000000000000", "$: NaN and infinity are not JSON values"},
      {"3b8000000000000000", "$: the integer does not fit 64 bits; write it as text"},
      {"a10102", "$: expected text as key, got nat"},
      {"a18001", "$: a map key must be a text or an integer (byte 2)"},
  };
  for (const auto& [cbor, expected] : cases)
    EXPECT_EQ(recode(Schema::any(), cbor), expected) << cbor;
}

TEST(NormaliserAny, reads_back_what_was_written_as_json) {
  for (const std::string_view json :
       {R"({})", R"([])", R"(null)", R"("")", R"(-1)", R"(1.0)", R"(-0.0)", R"(1e+300)",
        R"(5e-324)", R"({"":{"":[]}})", R"([[[]],{},"\u0000\\\"",true,false,null])",
        R"(18446744073709551615)", R"(-9223372036854775808)"}) {
    const std::string canonical = encode(Schema::any(), json);
    const base::Bytes bytes = bytes_of(canonical);
    EXPECT_EQ(to_json(View::of(bytes)), json);
    EXPECT_EQ(encode(Schema::any(), to_json(View::of(bytes), JsonStyle::kIndented)), canonical);
  }
}

}  // namespace
}  // namespace holdfast::codec
