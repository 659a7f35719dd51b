// SPDX-License-Identifier: Apache-2.0
// Schema::item(): any CBOR item at all, for tools that look at foreign bytes.
#include <gtest/gtest.h>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::encode;
using testing::recode;

TEST(NormaliserItem, json_with_fractions_is_an_item_too) {
  EXPECT_EQ(encode(Schema::item(), R"({"a":[1.5,1,-0.0,1e300]})"),
            encode(Schema::any(), R"({"a":[1.5,1,-0.0,1e300]})"));
  EXPECT_EQ(encode(Schema::item(), "[18446744073709551616]"),
            "$[0]: the integer does not fit 64 bits; write it as text");
}

TEST(NormaliserItem, a_key_that_is_there_twice_is_named) {
  EXPECT_EQ(recode(Schema::item(), "a3016161026162016163"), "$[1]: the key is there twice");
  EXPECT_EQ(recode(Schema::item(), "a3f561610261620361638101"),
            "$: unexpected bytes after the value (byte 10)");
  EXPECT_EQ(recode(Schema::item(), "a2810161618101f6"), "$[[1]]: the key is there twice");
  EXPECT_EQ(recode(Schema::item(), "a16161a26162016162f5"), "$.a.b: the key is there twice");
}

TEST(NormaliserItem, an_error_inside_a_key_names_the_entry) {
  EXPECT_EQ(recode(Schema::item(), "a2016161a1fc01"),
            "$[entry 1][entry 0]: reserved or misplaced length (byte 6)");
}

}  // namespace
}  // namespace holdfast::codec
