// SPDX-License-Identifier: Apache-2.0
#include "codec/scalar_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::codec {
namespace {

std::string decimal(std::string_view text) {
  ShortText out;
  return canonical_dec128(text, out) ? std::string(out.view()) : "refused";
}

TEST(Decimal, is_written_plainly_without_trailing_zeros) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"0.000", "0"},
      {"0e500", "0"},
      {"-0e-9999", "0"},
      {"1", "1"},
      {"+1", "1"},
      {"-1", "-1"},
      {"001", "1"},
      {"1.0", "1"},
      {"10", "10"},
      {"1e1", "10"},
      {"1E+1", "10"},
      {"100e-2", "1"},
      {"0.5", "0.5"},
      {"0.50", "0.5"},
      {"12.340", "12.34"},
      {"-12.034", "-12.034"},
      {"0.0000001", "0.0000001"},
      {"1e-7", "0.0000001"},
      {"1e-8", "1e-8"},
      {"0.00000001", "1e-8"},
      {"12e-9", "1.2e-8"},
      {"12e-8", "0.00000012"},
      {"1e33", "1000000000000000000000000000000000"},
      {"1e34", "1e34"},
      {"9999999999999999999999999999999999", "9999999999999999999999999999999999"},
      {"99999999999999999999999999999999990", "9.999999999999999999999999999999999e34"},
      {"-0.0000001234567890123456789012345678901234",
       "-0.0000001234567890123456789012345678901234"},
      {"1e6144", "1e6144"},
      {"9.999999999999999999999999999999999e6144", "9.999999999999999999999999999999999e6144"},
      {"1e-6176", "1e-6176"},
      {"-1.234567890123456789012345678901234e-6143", "-1.234567890123456789012345678901234e-6143"},
      {"0.1e6145", "1e6144"},
      {"10e-6177", "1e-6176"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(decimal(text), canonical) << text;
    EXPECT_EQ(decimal(canonical), canonical) << "again: " << canonical;
  }
}

TEST(Decimal, other_texts_are_refused) {
  for (const std::string_view text : {"",
                                      "-",
                                      "+",
                                      ".",
                                      ".5",
                                      "5.",
                                      "1.e5",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "1e-",
                                      "--1",
                                      "+-1",
                                      " 1",
                                      "1 ",
                                      "1,5",
                                      "1.2.3",
                                      "0x10",
                                      "NaN",
                                      "Infinity",
                                      "1e6145",
                                      "10e6144",
                                      "1e-6177",
                                      "1.1e-6176",
                                      "1e99999999999999999999",
                                      "99999999999999999999999999999999999",
                                      "10000000000000000000000000000000001",
                                      "0.11111111111111111111111111111111111"}) {
    EXPECT_EQ(decimal(text), "refused") << text;
  }
}

TEST(Decimal, zeros_may_be_many) {
  EXPECT_EQ(decimal(std::string(100000, '0') + "1"), "1");
  EXPECT_EQ(decimal("1." + std::string(100000, '0')), "1");
  EXPECT_EQ(decimal("0." + std::string(6175, '0') + "1"), "1e-6176");
  EXPECT_EQ(decimal("1" + std::string(6144, '0')), "1e6144");
  EXPECT_EQ(decimal("1" + std::string(6145, '0')), "refused");
}

TEST(Uuid, is_written_in_lower_case) {
  ShortText out;
  ASSERT_TRUE(canonical_uuid("01234567-89AB-cdef-ABCD-EF0123456789", out));
  EXPECT_EQ(out.view(), "01234567-89ab-cdef-abcd-ef0123456789");
  for (const std::string_view text :
       {"", "01234567-89ab-cdef-abcd-ef012345678", "01234567-89ab-cdef-abcd-ef01234567890",
        "0123456789abcdefabcdef0123456789", "g1234567-89ab-cdef-abcd-ef0123456789",
        "01234567_89ab-cdef-abcd-ef0123456789", "012345678-9ab-cdef-abcd-ef0123456789",
        "{1234567-89ab-cdef-abcd-ef012345678}", "01234567-89ab-cdef-abcd-ef012345678\xc3"}) {
    ShortText unused;
    EXPECT_FALSE(canonical_uuid(text, unused)) << text;
  }
}

TEST(HashText, is_sha256_and_lower_case_hex) {
  const std::string digits(64, '0');
  EXPECT_TRUE(is_hash_text("sha256:" + digits));
  for (const std::string& text :
       {digits, "sha256:" + digits + "0", "sha256:" + digits.substr(1), "SHA256:" + digits,
        "sha256-" + digits, "sha256:" + digits.substr(1) + "A",
        "sha256:" + digits.substr(1) + "g"}) {
    EXPECT_FALSE(is_hash_text(text)) << text;
  }
}

std::string nanoseconds(std::string_view text) {
  std::uint64_t out = 0;
  return parse_time(text, out) ? std::to_string(out) : "refused";
}

TEST(Time, is_read_from_rfc_3339) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"1970-01-01T00:00:00Z", "0"},
      {"1970-01-01t00:00:00z", "0"},
      {"1970-01-01 00:00:00Z", "0"},
      {"1970-01-01T00:00:00.1Z", "100000000"},
      {"1970-01-01T00:00:00.123456789Z", "123456789"},
      {"1970-01-01T05:30:00+05:30", "0"},
      {"1969-12-31T23:00:00-01:00", "0"},
      {"1970-01-01T00:00:00-00:01", "60000000000"},
      {"2000-02-29T00:00:00Z", "951782400000000000"},
      {"2000-03-01T00:00:00Z", "951868800000000000"},
      {"2024-02-29T23:59:59.999999999Z", "1709251199999999999"},
      {"2100-02-28T00:00:00Z", "4107456000000000000"},
      {"2100-03-01T00:00:00Z", "4107542400000000000"},
      {"2026-01-31T12:00:00Z", "1769860800000000000"},
      {"2554-07-21T23:34:32Z", "18446744072000000000"},
      {"2554-07-21T23:34:32.999999999Z", "18446744072999999999"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(nanoseconds(text), expected) << text;
}

TEST(Time, other_texts_are_refused) {
  for (const std::string_view text : {"",
                                      "1970",
                                      "1970-01-01",
                                      "1970-01-01T00:00Z",
                                      "1970-01-01T00:00:00",
                                      "70-01-01T00:00:00Z",
                                      "1970-1-1T00:00:00Z",
                                      "1970-00-01T00:00:00Z",
                                      "1970-13-01T00:00:00Z",
                                      "1970-01-00T00:00:00Z",
                                      "1970-01-32T00:00:00Z",
                                      "1970-04-31T00:00:00Z",
                                      "1970-02-29T00:00:00Z",
                                      "2100-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "1970-01-01T24:00:00Z",
                                      "1970-01-01T00:60:00Z",
                                      "1970-01-01T00:00:60Z",
                                      "1970-01-01T00:00:00.Z",
                                      "1970-01-01T00:00:00.1234567890Z",
                                      "1970-01-01T00:00:00,5Z",
                                      "1970-01-01T00:00:00+24:00",
                                      "1970-01-01T00:00:00+00:60",
                                      "1970-01-01T00:00:00+0000",
                                      "1970-01-01T00:00:00+00:00x",
                                      "1970-01-01T00:00:00ZZ",
                                      "1969-12-31T23:59:59.999999999Z",
                                      "1970-01-01T00:00:00+00:01",
                                      "0000-01-01T00:00:00Z",
                                      "2554-07-21T23:34:33Z",
                                      "9999-12-31T23:59:59Z",
                                      " 1970-01-01T00:00:00Z",
                                      "+1970-01-01T00:00:00Z"}) {
    EXPECT_EQ(nanoseconds(text), "refused") << text;
  }
}

std::string duration(std::string_view text) {
  std::int64_t out = 0;
  return parse_duration(text, out) ? std::to_string(out) : "refused";
}

TEST(Duration, is_whole_numbers_with_units_largest_first) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"0s", "0"},
      {"-0s", "0"},
      {"1ns", "1"},
      {"1us", "1000"},
      {"1ms", "1000000"},
      {"1s", "1000000000"},
      {"1m", "60000000000"},
      {"1h", "3600000000000"},
      {"1d", "86400000000000"},
      {"1d2h3m4s5ms6us7ns", "93784005006007"},
      {"-1h30m", "-5400000000000"},
      {"90m", "5400000000000"},
      {"1m1ms", "60001000000"},
      {"9223372036854775807ns", "9223372036854775807"},
      {"106751d", "9223286400000000000"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(duration(text), expected) << text;
}

TEST(Duration, other_texts_are_refused) {
  for (const std::string_view text : {"",
                                      "-",
                                      "5",
                                      "s",
                                      "1.5s",
                                      "1 s",
                                      "s1",
                                      "1s1s",
                                      "1s1m",
                                      "1ms1s",
                                      "1x",
                                      "1S",
                                      "1h-30m",
                                      "+1s",
                                      "--1s",
                                      "1s ",
                                      "9223372036854775808ns",
                                      "106752d",
                                      "99999999999999999999s",
                                      "9223372036s9223372036854775807ns",
                                      "1min",
                                      "1w"}) {
    EXPECT_EQ(duration(text), "refused") << text;
  }
}

}  // namespace
}  // namespace holdfast::codec
