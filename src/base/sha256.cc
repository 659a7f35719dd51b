// SPDX-License-Identifier: Apache-2.0
// OpenSSL's newer interface finds the algorithm through providers and checks its context at every
// call: for a hash of one or two blocks, that is more work than the hash. The older functions below
// it are the same code without that; they are marked as deprecated, which this file accepts. Short
// inputs go straight to the function for one block.
#include "base/sha256.h"

#include <openssl/sha.h>

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/copy.h"
#include "base/sha256_lanes.h"

// OPENSSL_SUPPRESS_DEPRECATED would come too late where another file has included OpenSSL before.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace holdfast::base {
namespace {

constexpr std::size_t kBlock = SHA256_CBLOCK;

// Beyond this, OpenSSL's own loop over many blocks is faster.
constexpr std::size_t kShort = 4 * kBlock;

static_assert(std::endian::native == std::endian::little);

Hash result_of(const std::uint32_t (&state)[8]) noexcept {
  Hash hash;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 8; i += 2) {
    std::uint64_t two;
    std::memcpy(&two, &state[i], sizeof two);
    two = std::rotl(__builtin_bswap64(two), 32);  // each word turned round, where it was
    std::memcpy(&hash.bytes[4 * i], &two, sizeof two);
  }
  return hash;
}

// The rest of an input as whole blocks: the bytes, what marks their end, and the size of all.
class Padded {
 public:
  // The bytes come in two pieces that are kShort together at most, behind `before` bytes.
  Padded(std::uint64_t before, ByteView a, ByteView b) noexcept {
    const std::size_t size = a.size() + b.size();
    const std::uint64_t bits = __builtin_bswap64((before + size) * 8);
    blocks_ = (size + 1 + sizeof bits + kBlock - 1) / kBlock;
    // What is not overwritten below is in one of these two, which mostly are one.
    std::memset(bytes_ + size / kBlock * kBlock, 0, kBlock);
    std::memset(bytes_ + (blocks_ - 1) * kBlock, 0, kBlock);
    copy_bytes(bytes_, a.data(), a.size());
    copy_bytes(bytes_ + a.size(), b.data(), b.size());
    bytes_[size] = 0x80;
    std::memcpy(bytes_ + blocks_ * kBlock - sizeof bits, &bits, sizeof bits);
  }

  std::size_t blocks() const noexcept { return blocks_; }
  const std::uint8_t* block(std::size_t index) const noexcept { return bytes_ + index * kBlock; }

 private:
  std::uint8_t bytes_[kShort + kBlock];
  std::size_t blocks_;
};

// Hashes the rest of an input behind what is in the context already.
Hash finish_short(SHA256_CTX& context, const Padded& rest) noexcept {
  for (std::size_t i = 0; i < rest.blocks(); ++i) SHA256_Transform(&context, rest.block(i));
  return result_of(context.h);
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
  return finish_short(context, Padded(size_ + last, rest.subspan(last), {}));
}

void Sha256Prefix::finish_both(const Sha256Prefix& a, ByteView rest_of_a, Hash& of_a,
                               const Sha256Prefix& b, ByteView rest_of_b, Hash& of_b) noexcept {
  if (sha256_lanes::worthwhile() && rest_of_a.size() <= kShort && rest_of_b.size() <= kShort) {
    const Padded padded_a(a.size_, rest_of_a, {});
    const Padded padded_b(b.size_, rest_of_b, {});
    if (padded_a.blocks() == padded_b.blocks()) {
      std::uint32_t state_a[8];
      std::uint32_t state_b[8];
      std::memcpy(state_a, a.state_, sizeof state_a);
      std::memcpy(state_b, b.state_, sizeof state_b);
      sha256_lanes::take(state_a, state_b, padded_a.block(0), padded_b.block(0), padded_a.blocks());
      of_a = result_of(state_a);
      of_b = result_of(state_b);
      return;
    }
  }
  of_a = a.finish(rest_of_a);
  of_b = b.finish(rest_of_b);
}

Hash sha256(ByteView bytes, ByteView rest) noexcept {
  SHA256_CTX context;
  SHA256_Init(&context);
  if (bytes.size() + rest.size() <= kShort) return finish_short(context, Padded(0, bytes, rest));
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Update(&context, rest.data(), rest.size());
  Hash hash;
  SHA256_Final(hash.bytes.data(), &context);
  return hash;
}

}  // namespace holdfast::base

#pragma GCC diagnostic pop
