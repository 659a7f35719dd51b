// SPDX-License-Identifier: Apache-2.0
// OpenSSL's newer interface finds the algorithm through providers and checks its context at every
// call: for a hash of one or two blocks, that is more work than the hash. The older functions below
// it are the same code without that; they are marked as deprecated, which this file accepts. Short
// inputs go straight to the function for one block.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

#include <cstring>

#include "base/check.h"

namespace holdfast::base {
namespace {

constexpr std::size_t kBlock = SHA256_CBLOCK;

// Beyond this, OpenSSL's own loop over many blocks is faster.
constexpr std::size_t kShort = 4 * kBlock;

SHA256_CTX* context_in(unsigned char* storage) noexcept {
  return reinterpret_cast<SHA256_CTX*>(storage);
}

void store_big_endian(std::uint8_t* at, std::uint64_t n, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    at[i] = static_cast<std::uint8_t>(n >> (8 * (count - 1 - i)));
}

// Hashes the rest of an input of `total` bytes, of which whole blocks are in the context already.
Hash finish_short(SHA256_CTX& context, ByteView rest, std::uint64_t total) noexcept {
  for (; rest.size() >= kBlock; rest = rest.subspan(kBlock))
    SHA256_Transform(&context, rest.data());
  std::uint8_t last[2 * kBlock];
  const std::size_t size = rest.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  if (!rest.empty()) std::memcpy(last, rest.data(), rest.size());
  last[rest.size()] = 0x80;
  std::memset(last + rest.size() + 1, 0, size - rest.size() - 9);
  store_big_endian(last + size - 8, total * 8, 8);
  SHA256_Transform(&context, last);
  if (size > kBlock) SHA256_Transform(&context, last + kBlock);
  Hash hash;
  for (std::size_t i = 0; i < 8; ++i) store_big_endian(&hash.bytes[4 * i], context.h[i], 4);
  return hash;
}

}  // namespace

Sha256::Sha256() noexcept {
  static_assert(sizeof storage_ >= sizeof(SHA256_CTX));
  static_assert(alignof(Sha256) >= alignof(SHA256_CTX));
  SHA256_Init(context_in(storage_));
}

void Sha256::update(ByteView bytes) noexcept {
  SHA256_Update(context_in(storage_), bytes.data(), bytes.size());
}

Hash Sha256::finish() noexcept {
  Hash hash;
  SHA256_Final(hash.bytes.data(), context_in(storage_));
  SHA256_Init(context_in(storage_));
  return hash;
}

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
  return finish_short(context, rest, size_ + rest.size());
}

Hash sha256(ByteView bytes) noexcept {
  SHA256_CTX context;
  SHA256_Init(&context);
  if (bytes.size() <= kShort) return finish_short(context, bytes, bytes.size());
  SHA256_Update(&context, bytes.data(), bytes.size());
  Hash hash;
  SHA256_Final(hash.bytes.data(), &context);
  return hash;
}

}  // namespace holdfast::base
