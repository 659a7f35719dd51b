// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/sha256.h"

namespace holdfast::base {
namespace {

const std::string kHashText =
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Hash, text_reads_back) {
  EXPECT_EQ(Hash::parse(kHashText)->to_text(), kHashText);
  EXPECT_EQ(*Hash::parse(kHashText), sha256(as_bytes("abc")));
}

TEST(Hash, any_other_text_is_refused) {
  std::string upper = kHashText;
  upper.back() = 'D';
  std::string no_digit = kHashText;
  no_digit.back() = 'g';
  const std::string texts[] = {"",
                               "sha256:",
                               kHashText.substr(7),
                               "sha512:" + kHashText.substr(7),
                               kHashText + "0",
                               kHashText + "00",
                               upper,
                               no_digit,
                               " " + kHashText,
                               "SHA256:" + kHashText.substr(7),
                               kHashText.substr(0, 70)};
  for (const std::string& text : texts) EXPECT_FALSE(Hash::parse(text)) << text;
}

TEST(Hash, order_is_that_of_the_bytes) {
  Hash small, large;
  small.bytes[1] = 0xff;
  large.bytes[0] = 0x01;
  EXPECT_LT(small, large);
  EXPECT_NE(small, large);
}

TEST(Hash, only_the_zero_hash_is_zero) {
  EXPECT_TRUE(Hash{}.is_zero());
  Hash hash;
  hash.bytes[31] = 1;
  EXPECT_FALSE(hash.is_zero());
}

TEST(Hash, serves_as_a_key_of_unordered_containers) {
  std::unordered_set<Hash, HashOfHash> set;
  for (int i = 0; i < 1000; ++i) {
    set.insert(sha256(as_bytes(std::to_string(i))));
    set.insert(sha256(as_bytes(std::to_string(i))));
  }
  EXPECT_EQ(set.size(), 1000U);
  EXPECT_TRUE(set.contains(sha256(as_bytes("999"))));
  EXPECT_FALSE(set.contains(sha256(as_bytes("1000"))));
}

TEST(HashOfText, tells_texts_apart_that_share_their_words) {
  std::unordered_set<std::size_t> seen;
  std::size_t made = 0;
  for (const std::string& word :
       {std::string("order-00"), std::string(8, '\0'), std::string(8, 'x')}) {
    std::string text;
    for (int i = 0; i < 40; ++i, ++made) {
      seen.insert(HashOfText{}(text));
      text += word.substr(0, 1 + static_cast<std::size_t>(i) % 8);
    }
  }
  EXPECT_EQ(seen.size(), made - 2) << "the empty text came three times";
}

}  // namespace
}  // namespace holdfast::base
