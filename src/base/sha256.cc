// SPDX-License-Identifier: Apache-2.0
// OpenSSL's newer interface finds the algorithm through providers and checks its context at every
// call: for a hash of one or two blocks, that is more work than the hash. The older functions below
// it are the same code without that; they are marked as deprecated, which this file accepts.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

namespace holdfast::base {
namespace {

SHA256_CTX* context_in(unsigned char* storage) noexcept {
  return reinterpret_cast<SHA256_CTX*>(storage);
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

Hash sha256(ByteView bytes) noexcept {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  Hash hash;
  SHA256_Final(hash.bytes.data(), &context);
  return hash;
}

}  // namespace holdfast::base
