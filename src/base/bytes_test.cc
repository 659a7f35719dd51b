// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Bytes, text_and_bytes_are_views_of_the_same_memory) {
  const std::string_view text = "abc";
  EXPECT_EQ(as_text(as_bytes(text)).data(), text.data());
  EXPECT_EQ(as_bytes(text)[1], 'b');
  EXPECT_TRUE(as_bytes("").empty());
}

TEST(Bytes, equality_looks_at_length_and_content) {
  EXPECT_TRUE(equal(Bytes{1, 2}, Bytes{1, 2}));
  EXPECT_FALSE(equal(Bytes{1, 2}, Bytes{1, 3}));
  EXPECT_FALSE(equal(Bytes{1, 2}, Bytes{1}));
  EXPECT_TRUE(equal({}, {}));
}

TEST(Bytes, order_takes_bytes_as_unsigned) {
  EXPECT_LT(compare(Bytes{0x7f}, Bytes{0x80}), 0);
  EXPECT_GT(compare(Bytes{0xff}, Bytes{0x00}), 0);
}

TEST(Bytes, a_prefix_comes_first) {
  EXPECT_LT(compare(Bytes{1}, Bytes{1, 0}), 0);
  EXPECT_LT(compare({}, Bytes{0}), 0);
  EXPECT_EQ(compare(Bytes{1, 2}, Bytes{1, 2}), 0);
}

}  // namespace
}  // namespace holdfast::base
