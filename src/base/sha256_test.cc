// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string>

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

// Every length around the edges of blocks, against the whole of OpenSSL.
TEST(Sha256, short_and_long_inputs_whole_in_two_pieces_or_behind_a_prefix_agree) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += static_cast<char>(i * 31);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const ByteView all = as_bytes(text).first(size);
    Hash expected;
    ASSERT_EQ(
        EVP_Q_digest(nullptr, "SHA256", nullptr, all.data(), size, expected.bytes.data(), nullptr),
        1);
    ASSERT_EQ(sha256(all), expected) << size;
    ASSERT_EQ(sha256(all.first(size / 3), all.subspan(size / 3)), expected) << size;
    for (const std::size_t before : {std::size_t{0}, std::size_t{64}, std::size_t{128}}) {
      if (before > size) continue;
      ASSERT_EQ(Sha256Prefix(all.first(before)).finish(all.subspan(before)), expected) << size;
    }
  }
}

}  // namespace
}  // namespace holdfast::base
