// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstring>
#include <string>

#include "base/hex.h"
#include "base/sha256_lanes.h"

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

// On every processor, whichever way it prefers.
TEST(Sha256, two_inputs_at_once_agree_with_one_after_the_other) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += static_cast<char>(i * 37);
  const Sha256Prefix none({});
  const Sha256Prefix one(as_bytes(text).first(64));
  for (std::size_t size = 0; size <= 330; ++size) {
    for (const std::size_t more : {0u, 1u, 9u, 64u, 300u}) {
      const ByteView a = as_bytes(text).first(size);
      const ByteView b = as_bytes(text).subspan(11, size + more);
      Hash of_a;
      Hash of_b;
      Sha256Prefix::finish_both(none, a, of_a, one, b, of_b);
      ASSERT_EQ(of_a, none.finish(a)) << size << " and " << more;
      ASSERT_EQ(of_b, one.finish(b)) << size << " and " << more;
    }
  }
}

// The lanes themselves, also where the processor has something better: states and blocks that are
// as random as hashes are, so that every bit of every word is both.
TEST(Sha256, lanes_agree_with_whole_hashes) {
  if (!sha256_lanes::possible()) GTEST_SKIP() << "this processor has no AVX2";
  constexpr std::uint32_t kFirst[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto padded = [](ByteView bytes) {
    Bytes all(bytes.begin(), bytes.end());
    all.push_back(0x80);
    all.resize((bytes.size() + 9 + 63) / 64 * 64);
    const std::uint64_t bits = __builtin_bswap64(bytes.size() * 8);
    std::memcpy(all.data() + all.size() - sizeof bits, &bits, sizeof bits);
    return all;
  };
  const auto hash_of = [](const std::uint32_t(&state)[8]) {
    Hash hash;
    for (std::size_t i = 0; i < 32; ++i)
      hash.bytes[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return hash;
  };
  Bytes random;
  for (Hash hash = sha256({}); random.size() < 2048; hash = sha256(hash.bytes))
    random.insert(random.end(), hash.bytes.begin(), hash.bytes.end());
  for (std::size_t at = 0; at < 1000; ++at) {
    const ByteView of_a = ByteView(random).subspan(at, at % 500);
    const ByteView of_b = ByteView(random).subspan(1000 - at, at % 500);
    std::uint32_t a[8];
    std::uint32_t b[8];
    std::memcpy(a, kFirst, sizeof a);
    std::memcpy(b, kFirst, sizeof b);
    const Bytes blocks_of_a = padded(of_a);
    const Bytes blocks_of_b = padded(of_b);
    sha256_lanes::take(a, b, blocks_of_a.data(), blocks_of_b.data(), blocks_of_a.size() / 64);
    ASSERT_EQ(hash_of(a), sha256(of_a)) << at;
    ASSERT_EQ(hash_of(b), sha256(of_b)) << at;
  }
}

}  // namespace
}  // namespace holdfast::base
