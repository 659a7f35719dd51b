// SPDX-License-Identifier: Apache-2.0
// Well-formed CBOR in every spelling, and what is refused: seen through Schema::item().
#include "codec/cbor_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::recode;

struct CborCase {
  std::string_view cbor;
  std::string_view expected;  // canonical bytes, or the error
};

void expect_all_cbor(const std::vector<CborCase>& cases) {
  for (const auto& [cbor, expected] : cases)
    EXPECT_EQ(recode(Schema::item(), cbor), expected) << cbor;
}

TEST(CborReader, long_heads_and_indefinite_lengths_are_read) {
  expect_all_cbor({
      {"1b0000000000000017", "17"},
      {"3b0000000000000017", "37"},
      {"5800", "40"},
      {"5a0000000161", "4161"},
      {"7b000000000000000161", "6161"},
      {"980101", "8101"},
      {"b9000101f6", "a101f6"},
      {"db000000000000000001", "c001"},
      {"9fff", "80"},
      {"9f019f02ffff", "82018102"},
      {"bfff", "a0"},
      {"bf02010103ff", "a201030201"},
      {"5fff", "40"},
      {"5f40ff", "40"},
      {"5f4101580102ff", "420102"},
      {"7fff", "60"},
      {"7f62c3a96161ff", "63c3a961"},
  });
}

TEST(CborReader, bytes_that_end_too_soon_are_refused) {
  expect_all_cbor({
      {"", "$: the bytes end where an item should be (byte 0)"},
      {"18", "$: the bytes end inside an item (byte 1)"},
      {"1900", "$: the bytes end inside an item (byte 1)"},
      {"1b00000000000000", "$: the bytes end inside an item (byte 1)"},
      {"f8", "$: the bytes end inside an item (byte 1)"},
      {"f93c", "$: the bytes end inside an item (byte 1)"},
      {"fb3ff00000", "$: the bytes end inside an item (byte 1)"},
      {"6161c0", "$: unexpected bytes after the value (byte 2)"},
      {"c0", "$: the bytes end where an item should be (byte 1)"},
      {"9f", "$[0]: the bytes end where an item should be (byte 1)"},
      {"9f01", "$[1]: the bytes end where an item should be (byte 2)"},
      {"bf01", "$[1]: the bytes end where an item should be (byte 2)"},
      {"5f", "$: the bytes end inside an item (byte 1)"},
      {"5f41", "$: a length passes the end of the bytes (byte 2)"},
      {"d9d9f7", "$: the bytes end where an item should be (byte 3)"},
  });
}

TEST(CborReader, lengths_that_pass_the_end_are_refused_at_once) {
  expect_all_cbor({
      {"4101ff", "$: unexpected bytes after the value (byte 2)"},
      {"42ff", "$: a length passes the end of the bytes (byte 1)"},
      {"61", "$: a length passes the end of the bytes (byte 1)"},
      {"7affffffff61", "$: a length passes the end of the bytes (byte 5)"},
      {"7bffffffffffffffff61", "$: a length passes the end of the bytes (byte 9)"},
      {"5bffffffffffffffff", "$: a length passes the end of the bytes (byte 9)"},
      {"8201", "$: a length passes the end of the bytes (byte 1)"},
      {"9bffffffffffffffff00", "$: a length passes the end of the bytes (byte 9)"},
      {"a101", "$: a length passes the end of the bytes (byte 1)"},
      {"bbffffffffffffffff0000", "$: a length passes the end of the bytes (byte 9)"},
      {"bb80000000000000000000", "$: a length passes the end of the bytes (byte 9)"},
      {"5f5bffffffffffffffff00ff", "$: a length passes the end of the bytes (byte 10)"},
      {"82830101", "$[0]: a length passes the end of the bytes (byte 2)"},
  });
}

TEST(CborReader, reserved_and_misplaced_bytes_are_refused) {
  expect_all_cbor({
      {"1c", "$: reserved or misplaced length (byte 1)"},
      {"1f", "$: reserved or misplaced length (byte 1)"},
      {"3f", "$: reserved or misplaced length (byte 1)"},
      {"5e", "$: reserved or misplaced length (byte 1)"},
      {"df01", "$: reserved or misplaced length (byte 1)"},
      {"fc", "$: reserved or misplaced length (byte 1)"},
      {"fe", "$: reserved or misplaced length (byte 1)"},
      {"ff", "$: a break where an item should be (byte 1)"},
      {"81ff", "$[0]: a break where an item should be (byte 2)"},
      {"c1ff", "$: a break where an item should be (byte 2)"},
      {"bf01ff", "$[1]: a break where an item should be (byte 3)"},
      {"f800", "$: a simple value in a reserved form (byte 1)"},
      {"f818", "$: a simple value in a reserved form (byte 1)"},
      {"f81f", "$: a simple value in a reserved form (byte 1)"},
      {"5f6161ff", "$: a piece of another kind in a string (byte 1)"},
      {"7f4161ff", "$: a piece of another kind in a string (byte 1)"},
      {"5f5f4101ffff", "$: a piece of another kind in a string (byte 1)"},
      {"5f01ff", "$: a piece of another kind in a string (byte 1)"},
  });
}

TEST(CborReader, text_is_checked_piece_by_piece) {
  expect_all_cbor({
      {"61ff", "$: a text is not valid UTF-8 (byte 1)"},
      {"63eda080", "$: a text is not valid UTF-8 (byte 1)"},
      {"7f61c361a9ff", "$: a text is not valid UTF-8 (byte 2)"},
      {"a161ff01", "$[entry 0]: a text is not valid UTF-8 (byte 2)"},
  });
}

TEST(CborReader, the_self_describe_tag_may_be_there_or_not) {
  expect_all_cbor({
      {"d9d9f701", "01"},
      {"01", "01"},
      {"d9d9f7d9d9f701", "d9d9f701"},
      {"81d9d9f701", "81d9d9f701"},
  });
}

}  // namespace
}  // namespace holdfast::codec
