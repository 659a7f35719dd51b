// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/hex.h"

namespace holdfast::base {
namespace {

std::string hex_of(std::string_view text) { return to_hex(sha256(as_bytes(text)).bytes); }

TEST(Sha256, agrees_with_the_vectors_of_fips_180) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length around the edges of blocks, against OpenSSL's own way through its context.
TEST(Sha256, short_and_long_inputs_whole_in_two_pieces_or_behind_a_prefix_agree) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += static_cast<char>(i * 31);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const ByteView all = as_bytes(text).first(size);
    Sha256 hasher;
    hasher.update(all);
    const Hash expected = hasher.finish();
    ASSERT_EQ(sha256(all), expected) << size;
    ASSERT_EQ(sha256(all.first(size / 3), all.subspan(size / 3)), expected) << size;
    for (const std::size_t before : {std::size_t{0}, std::size_t{64}, std::size_t{128}}) {
      if (before > size) continue;
      ASSERT_EQ(Sha256Prefix(all.first(before)).finish(all.subspan(before)), expected) << size;
    }
  }
}

TEST(Sha256, pieces_give_the_hash_of_the_whole) {
  Sha256 hasher;
  hasher.update(as_bytes("a"));
  hasher.update({});
  hasher.update(as_bytes("bc"));
  EXPECT_EQ(hasher.finish(), sha256(as_bytes("abc")));
}

TEST(Sha256, is_as_new_after_finish) {
  Sha256 hasher;
  hasher.update(as_bytes("something else"));
  static_cast<void>(hasher.finish());
  EXPECT_EQ(hasher.finish(), sha256({}));
  hasher.update(as_bytes("abc"));
  EXPECT_EQ(hasher.finish(), sha256(as_bytes("abc")));
}

TEST(Sha256, may_be_moved_in_the_middle) {
  Sha256 first;
  first.update(as_bytes("ab"));
  Sha256 second = std::move(first);
  second.update(as_bytes("c"));
  EXPECT_EQ(second.finish(), sha256(as_bytes("abc")));
}

}  // namespace
}  // namespace holdfast::base
