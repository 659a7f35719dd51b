// SPDX-License-Identifier: Apache-2.0
#include "base/ed25519.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hex.h"

namespace holdfast::base {
namespace {

Ed25519Seed seed_of(std::string_view hex) {
  const Bytes bytes = *from_hex(hex);
  Ed25519Seed seed{};
  std::copy(bytes.begin(), bytes.end(), seed.begin());
  return seed;
}

// RFC 8032, section 7.1, tests 1 to 3.
struct Ed25519Vector {
  const char* seed;
  const char* key;
  const char* message;
  const char* signature;
};
constexpr Ed25519Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519Test, agrees_with_rfc_8032) {
  for (const Ed25519Vector& vector : kVectors) {
    const Ed25519Seed seed = seed_of(vector.seed);
    const Bytes message = *from_hex(vector.message);
    EXPECT_EQ(to_hex(ed25519_public_key(seed)), vector.key);
    EXPECT_EQ(to_hex(ed25519_sign(seed, message)), vector.signature);
    EXPECT_TRUE(ed25519_verify(*from_hex(vector.key), message, *from_hex(vector.signature)));
  }
}

TEST(Ed25519Test, refuses_another_message_key_or_signature_and_wrong_sizes) {
  const Ed25519Seed seed = seed_of(kVectors[0].seed);
  const Ed25519Key key = ed25519_public_key(seed);
  const Bytes message{1, 2, 3};
  const Ed25519Signature good = ed25519_sign(seed, message);
  ASSERT_TRUE(ed25519_verify(key, message, good));
  EXPECT_FALSE(ed25519_verify(key, Bytes{1, 2, 4}, good));
  EXPECT_FALSE(ed25519_verify(ed25519_public_key(seed_of(kVectors[1].seed)), message, good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    Ed25519Signature bad = good;
    bad[i] ^= 1;
    EXPECT_FALSE(ed25519_verify(key, message, bad)) << i;
  }
  EXPECT_FALSE(ed25519_verify(key, message, ByteView(good).first(63)));
  EXPECT_FALSE(ed25519_verify(ByteView(key).first(31), message, good));
  EXPECT_FALSE(ed25519_verify({}, message, {}));
}

}  // namespace
}  // namespace holdfast::base
