// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/testing_base64.h"

namespace holdfast::base {
namespace {

TEST(Base64, agrees_with_the_vectors_of_rfc_4648) {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(testing::to_base64(as_bytes(bytes)), text);
    EXPECT_EQ(as_text(from_base64(text).value()), bytes);
  }
}

TEST(Base64, uses_the_whole_alphabet) {
  const std::string_view text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  EXPECT_EQ(testing::to_base64(*from_base64(text)), text);
}

TEST(Base64, missing_or_extra_padding_is_refused) {
  for (std::string_view text : {"Zg", "Zg=", "Zg===", "Zm8", "Zm9v=", "Zm9v====", "=",
                                "====", "Z===", "Zg==Zg==", "Zm8=Zm8="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(Base64, stray_bits_behind_the_last_byte_are_refused) {
  EXPECT_TRUE(from_base64("Zg=="));
  EXPECT_FALSE(from_base64("Zh=="));
  EXPECT_FALSE(from_base64("Zv=="));
  EXPECT_TRUE(from_base64("Zm8="));
  EXPECT_FALSE(from_base64("Zm9="));
}

TEST(Base64, every_character_outside_the_alphabet_is_refused_at_every_place) {
  const std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t place = 0; place < 8; ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = "Zm9vYmFy";
      text[place] = static_cast<char>(c);
      // The padding sign has its own rules at the end.
      if (c == '=' && place == 7) continue;
      const bool belongs = alphabet.find(text[place]) != std::string_view::npos;
      EXPECT_EQ(from_base64(text).has_value(), belongs) << place << " " << c;
    }
  }
}

TEST(Base64, appends_behind_what_is_there) {
  Bytes bytes = {1};
  EXPECT_TRUE(base64_decode_append("AgM=", bytes));
  EXPECT_EQ(bytes, (Bytes{1, 2, 3}));
  std::string text = "x";
  base64_encode_append(Bytes{2, 3}, text);
  EXPECT_EQ(text, "xAgM=");
}

TEST(Base64, a_refused_text_leaves_the_output_as_it_was) {
  Bytes bytes = {1, 2};
  EXPECT_FALSE(base64_decode_append("AAAA!AAA", bytes));
  EXPECT_EQ(bytes, (Bytes{1, 2}));
}

}  // namespace
}  // namespace holdfast::base
