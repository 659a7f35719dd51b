// SPDX-License-Identifier: Apache-2.0
// OpenSSL's newer interface finds the algorithm through providers and checks its context at every
// call: for a hash of one or two blocks, that is more work than the hash. The older functions below
// it are the same code without that; they are marked as deprecated, which this file accepts. Short
// inputs go straight to the function for one block.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

#include <bit>
#include <cstring>

#include "base/check.h"

namespace holdfast::base {
namespace {

constexpr std::size_t kBlock = SHA256_CBLOCK;

// Beyond this, OpenSSL's own loop over many blocks is faster.
constexpr std::size_t kShort = 4 * kBlock;

static_assert(std::endian::native == std::endian::little);

Hash result_of(const SHA256_CTX& context) noexcept {
  Hash hash;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t word = __builtin_bswap32(context.h[i]);
    std::memcpy(&hash.bytes[4 * i], &word, sizeof word);
  }
  return hash;
}

// Hashes the rest of an input, in two pieces that are kShort together at most, behind `before`
// bytes that are in the context already as whole blocks.
Hash finish_short(SHA256_CTX& context, std::uint64_t before, ByteView a, ByteView b) noexcept {
  std::uint8_t padded[kShort + kBlock];
  if (!a.empty()) std::memcpy(padded, a.data(), a.size());
  if (!b.empty()) std::memcpy(padded + a.size(), b.data(), b.size());
  const std::size_t size = a.size() + b.size();
  const std::size_t whole = (size + 9 + kBlock - 1) / kBlock * kBlock;
  padded[size] = 0x80;
  std::memset(padded + size + 1, 0, whole - size - 9);
  const std::uint64_t bits = __builtin_bswap64((before + size) * 8);
  std::memcpy(padded + whole - sizeof bits, &bits, sizeof bits);
  for (std::size_t at = 0; at < whole; at += kBlock) SHA256_Transform(&context, padded + at);
  return result_of(context);
}

}  // namespace

Sha256Prefix::Sha256Prefix(ByteView blocks) noexcept : size_(blocks.size()) {
  CHECK(blocks.size() % kBlock == 0);
  SHA256_CTX context;
  SHA256_Init(&context);
  for (std::size_t at = 0; at < blocks.size(); at += kBlock)
    SHA256_Transform(&context, blocks.data() + at);
  std::memcpy(state_, context.h, sizeof state_);
}

Hash Sha256Prefix::finish(ByteView rest) const noexcept {
  SHA256_CTX context;
  std::memcpy(context.h, state_, sizeof state_);
  const std::size_t last = rest.size() <= kShort ? 0 : (rest.size() - 1) / kBlock * kBlock;
  for (std::size_t at = 0; at < last; at += kBlock) SHA256_Transform(&context, rest.data() + at);
  return finish_short(context, size_ + last, rest.subspan(last), {});
}

Hash sha256(ByteView bytes, ByteView rest) noexcept {
  SHA256_CTX context;
  SHA256_Init(&context);
  if (bytes.size() + rest.size() <= kShort) return finish_short(context, 0, bytes, rest);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Update(&context, rest.data(), rest.size());
  Hash hash;
  SHA256_Final(hash.bytes.data(), &context);
  return hash;
}

}  // namespace holdfast::base
