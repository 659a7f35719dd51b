// SPDX-License-Identifier: Apache-2.0
// Every scalar type: the forms it accepts, its one encoding, and the edges of its range.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;
using testing::schema_of;

struct ScalarCase {
  std::string_view json;
  std::string_view expected;  // canonical bytes, or the error
};

void expect_from_json(std::string_view type, const std::vector<ScalarCase>& cases) {
  const Schema schema = schema_of(type);
  for (const auto& [json, expected] : cases) EXPECT_EQ(encode(schema, json), expected) << json;
}

void expect_from_cbor(std::string_view type, const std::vector<ScalarCase>& cases) {
  const Schema schema = schema_of(type);
  for (const auto& [cbor, expected] : cases) EXPECT_EQ(recode(schema, cbor), expected) << cbor;
}

constexpr std::string_view kNotInt =
    "$: out of range, which is -9223372036854775808 to 9223372036854775807";
constexpr std::string_view kNotNat = "$: out of range, which is 0 to 18446744073709551615";

TEST(NormaliserScalars, bool_is_true_or_false) {
  expect_from_json(R"({"bool":{}})", {{"true", "f5"},
                                      {"false", "f4"},
                                      {"1", "$: expected bool, got nat"},
                                      {"\"true\"", "$: expected bool, got text"},
                                      {"null", "$: expected bool, got null"}});
}

TEST(NormaliserScalars, int_has_64_bits_with_sign) {
  expect_from_json(R"({"int":{}})", {{"0", "00"},
                                     {"-0", "00"},
                                     {"23", "17"},
                                     {"24", "1818"},
                                     {"-1", "20"},
                                     {"-24", "37"},
                                     {"-25", "3818"},
                                     {"255", "18ff"},
                                     {"256", "190100"},
                                     {"65536", "1a00010000"},
                                     {"4294967296", "1b0000000100000000"},
                                     {"9223372036854775807", "1b7fffffffffffffff"},
                                     {"-9223372036854775808", "3b7fffffffffffffff"},
                                     {"9223372036854775808", kNotInt},
                                     {"-9223372036854775809", kNotInt},
                                     {"18446744073709551616", kNotInt},
                                     {"-100000000000000000000", kNotInt},
                                     {"1.0", "$: expected int, got number 1.0"},
                                     {"1e3", "$: expected int, got number 1e3"},
                                     {"\"1\"", "$: expected int, got text"}});
  expect_from_cbor(R"({"int":{}})", {{"1b7fffffffffffffff", "1b7fffffffffffffff"},
                                     {"3b7fffffffffffffff", "3b7fffffffffffffff"},
                                     {"1b8000000000000000", kNotInt},
                                     {"3b8000000000000000", kNotInt},
                                     {"f93c00", "$: expected int, got float"},
                                     {"c24101", "$: expected int, got tag"}});
}

TEST(NormaliserScalars, nat_has_64_bits_without_sign) {
  expect_from_json(R"({"nat":{}})", {{"0", "00"},
                                     {"-0", "00"},
                                     {"9999999999999999999", "1b8ac7230489e7ffff"},
                                     {"10000000000000000000", "1b8ac7230489e80000"},
                                     {"18446744073709551615", "1bffffffffffffffff"},
                                     {"18446744073709551616", kNotNat},
                                     {"19999999999999999999", kNotNat},
                                     {"20000000000000000000", kNotNat},
                                     {"28446744073709551615", kNotNat},
                                     {"99999999999999999999", kNotNat},
                                     {"100000000000000000000", kNotNat},
                                     {"-1", "$: expected nat, got negative int"},
                                     {"1.5", "$: expected nat, got number 1.5"}});
  expect_from_cbor(R"({"nat":{}})", {{"1bffffffffffffffff", "1bffffffffffffffff"},
                                     {"1b0000000000000001", "01"},
                                     {"1a00000001", "01"},
                                     {"190001", "01"},
                                     {"1801", "01"},
                                     {"20", "$: expected nat, got negative int"}});
}

TEST(NormaliserScalars, float_takes_the_shortest_form_that_keeps_the_value) {
  expect_from_json(R"({"float":{}})", {{"1", "f93c00"},
                                       {"1.0", "f93c00"},
                                       {"1e0", "f93c00"},
                                       {"10E-1", "f93c00"},
                                       {"0", "f90000"},
                                       {"0.0", "f90000"},
                                       {"-0.0", "f98000"},
                                       {"65504", "f97bff"},
                                       {"65505", "fa477fe100"},
                                       {"100000.0", "fa47c35000"},
                                       {"0.1", "fb3fb999999999999a"},
                                       {"5.960464477539063e-8", "f90001"},
                                       {"1e300", "fb7e37e43c8800759c"},
                                       {"5e-324", "fb0000000000000001"},
                                       {"\"NaN\"", "f97e00"},
                                       {"\"Infinity\"", "f97c00"},
                                       {"\"-Infinity\"", "f9fc00"},
                                       {"1e309", "$: the number does not fit a float"},
                                       {"-1e309", "$: the number does not fit a float"},
                                       {"\"inf\"", "$: expected float, got text"},
                                       {"\"1.0\"", "$: expected float, got text"},
                                       {"true", "$: expected float, got bool"}});
  expect_from_cbor(R"({"float":{}})", {{"01", "f93c00"},
                                       {"20", "f9bc00"},
                                       {"f93c00", "f93c00"},
                                       {"fa3f800000", "f93c00"},
                                       {"fb3ff0000000000000", "f93c00"},
                                       {"f97e00", "f97e00"},
                                       {"f97e01", "f97e00"},
                                       {"f9fe00", "f97e00"},
                                       {"fa7fc00000", "f97e00"},
                                       {"fb7ff8000000000000", "f97e00"},
                                       {"fbfff8000000000001", "f97e00"},
                                       {"fa7f800000", "f97c00"},
                                       {"fbfff0000000000000", "f9fc00"}});
}

TEST(NormaliserScalars, dec128_has_one_encoding_per_number) {
  for (const std::string_view form : {"0.5", "0.50", "5e-1", "\"0.5\"", "\"0.500\"", "\"+0.5\"",
                                      "\"00.5\"", "\"5E-1\"", "\"0.05e1\"", "\"50e-2\""}) {
    EXPECT_EQ(encode(R"({"dec128":{}})", form), "63302e35") << form;
  }
  expect_from_json(
      R"({"dec128":{}})",
      {{"0", "6130"},
       {"-0", "6130"},
       {"\"-0.00\"", "6130"},
       {"100", "63313030"},
       {"-100", "642d313030"},
       {"18446744073709551616", "743138343436373434303733373039353531363136"},
       {"\"x\"", "$: not a decimal number of at most 34 digits"},
       {"\"\"", "$: not a decimal number of at most 34 digits"},
       {"12345678901234567890123456789012345", "$: not a decimal number of at most 34 digits"},
       {"true", "$: expected dec128, got bool"}});
  expect_from_cbor(R"({"dec128":{}})",
                   {{"05", "6135"},
                    {"24", "622d35"},
                    {"3bffffffffffffffff", "752d3138343436373434303733373039353531363136"},
                    {"63302e35", "63302e35"},
                    {"f93800", "$: expected dec128, got float"}});
}

TEST(NormaliserScalars, bytes_come_as_base64_in_json) {
  expect_from_json(
      R"({"bytes":{}})",
      {{R"("")", "40"},
       {R"("AQID")", "43010203"},
       {R"("AQI=")", "420102"},
       {R"({"$bytes":"AQI="})", "420102"},
       {R"( { "$bytes" : "" } )", "40"},
       {R"("+/+/")", "43fbffbf"},
       {R"("AQI")", "$: not base64 (RFC 4648 alphabet, padded)"},
       {R"("AQJ=")", "$: not base64 (RFC 4648 alphabet, padded)"},
       {R"("-_-_")", "$: not base64 (RFC 4648 alphabet, padded)"},
       {R"("A QI=")", "$: not base64 (RFC 4648 alphabet, padded)"},
       {R"({"$bytes":"AQI"})", "$: not base64 (RFC 4648 alphabet, padded)"},
       {R"({})", R"($: expected bytes, got a map other than {"$bytes":"..."})"},
       {R"({"bytes":"AQI="})", R"($: expected bytes, got a map other than {"$bytes":"..."})"},
       {R"({"$bytes":1})", "$: expected bytes, got nat"},
       {R"({"$bytes":"","x":1})", "$: expected bytes, got a map with more than $bytes"},
       {R"([1,2])", "$: expected bytes, got list"}});
  expect_from_cbor(
      R"({"bytes":{}})",
      {{"420102", "420102"}, {"5f41014102ff", "420102"}, {"5fff", "40"}, {"644151493d", "420102"}});
}

TEST(NormaliserScalars, text_is_any_unicode_and_only_text) {
  expect_from_json(R"({"text":{}})", {{R"("")", "60"},
                                      {R"("a\u0000b")", "63610062"},
                                      {"\"\u00e9\"", "62c3a9"},
                                      {R"("\u00e9\u20ac\ud83d\ude00")", "69c3a9e282acf09f9880"},
                                      {"1", "$: expected text, got nat"}});
  expect_from_cbor(R"({"text":{}})", {{"7f61616162ff", "626162"},
                                      {"4161", "$: expected text, got bytes"},
                                      {"62c328", "$: a text is not valid UTF-8 (byte 1)"}});
}

TEST(NormaliserScalars, time_is_nanoseconds_since_1970) {
  expect_from_json(
      R"({"time":{}})",
      {{"0", "00"},
       {R"("1970-01-01T00:00:00Z")", "00"},
       {R"("1970-01-01T01:00:00.000000001+01:00")", "01"},
       {R"("2026-01-31T12:00:00Z")", "1b188fcf053de38000"},
       {"18446744073709551615", "1bffffffffffffffff"},
       {"-1", "$: expected time, got negative int"},
       {"1.5", "$: expected time, got number 1.5"},
       {R"("1969-12-31T23:59:59Z")",
        "$: not a time (nanoseconds, or a text such as 2026-01-31T12:00:00Z)"},
       {R"("yesterday")", "$: not a time (nanoseconds, or a text such as 2026-01-31T12:00:00Z)"}});
}

TEST(NormaliserScalars, duration_is_nanoseconds_with_sign) {
  expect_from_json(
      R"({"duration":{}})",
      {{"0", "00"},
       {"-5", "24"},
       {R"("250ms")", "1a0ee6b280"},
       {R"("1h30m")", "1b000004e94914f000"},
       {R"("-2d")", "3b00009d29229dffff"},
       {"9223372036854775808", kNotInt},
       {R"("soon")", "$: not a duration (nanoseconds, or a text such as 1h30m or 250ms)"},
       {"null", "$: expected duration, got null"}});
}

TEST(NormaliserScalars, hash_and_uuid_are_checked_texts) {
  const std::string hash = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(encode(R"({"hash":{}})", '"' + hash + '"').substr(0, 4), "7847");
  const std::string refused = "$: not a hash (sha256: and 64 lower-case hexadecimal digits)";
  EXPECT_EQ(encode(R"({"hash":{}})", "\"sha256:" + std::string(64, 'A') + '"'), refused);
  EXPECT_EQ(encode(R"({"hash":{}})", "\"sha256:" + std::string(63, 'a') + '"'), refused);
  EXPECT_EQ(encode(R"({"hash":{}})", "\"sha512:" + std::string(64, 'a') + '"'), refused);
  EXPECT_EQ(encode(R"({"hash":{}})", "1"), "$: expected hash, got nat");
  EXPECT_EQ(encode(R"({"uuid":{}})", R"("00112233-4455-6677-8899-AABBCCDDEEFF")"),
            encode(R"({"text":{}})", R"("00112233-4455-6677-8899-aabbccddeeff")"));
  EXPECT_EQ(encode(R"({"uuid":{}})", R"("00112233445566778899aabbccddeeff")"),
            "$: not a uuid (8-4-4-4-12 hexadecimal digits)");
  EXPECT_EQ(recode(R"({"uuid":{}})", "5000112233445566778899aabbccddeeff"),
            "$: expected uuid, got bytes");
}

TEST(NormaliserScalars, unit_is_null_or_an_empty_map) {
  expect_from_json(R"({"unit":{}})", {{"null", "f6"},
                                      {"{}", "f6"},
                                      {R"({"a":1})", "$: expected unit (null), got a map"},
                                      {"0", "$: expected unit (null), got nat"},
                                      {"[]", "$: expected unit (null), got list"}});
}

TEST(NormaliserScalars, option_is_null_or_the_value) {
  expect_from_json(R"({"option":{"nat":{}}})",
                   {{"null", "f6"}, {"1", "01"}, {"\"\"", "$: expected nat, got text"}});
  expect_from_cbor(R"({"option":{"nat":{}}})",
                   {{"f6", "f6"}, {"f7", "$: expected nat, got simple value"}});
}

}  // namespace
}  // namespace holdfast::codec
