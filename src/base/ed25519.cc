// SPDX-License-Identifier: Apache-2.0
#include "base/ed25519.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"

namespace holdfast::base {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Key private_key(const Ed25519Seed& seed) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  CHECK(key != nullptr);
  return key;
}

}  // namespace

Ed25519Key ed25519_public_key(const Ed25519Seed& seed) {
  Ed25519Key out{};
  std::size_t size = out.size();
  CHECK(EVP_PKEY_get_raw_public_key(private_key(seed).get(), out.data(), &size) == 1);
  CHECK(size == out.size());
  return out;
}

Ed25519Signature ed25519_sign(const Ed25519Seed& seed, ByteView message) {
  const Key key = private_key(seed);
  const Context context(EVP_MD_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  Ed25519Signature out{};
  std::size_t size = out.size();
  CHECK(EVP_DigestSign(context.get(), out.data(), &size, message.data(), message.size()) == 1);
  CHECK(size == out.size());
  return out;
}

bool ed25519_verify(ByteView key, ByteView message, ByteView signature) {
  if (key.size() != Ed25519Key().size() || signature.size() != Ed25519Signature().size())
    return false;
  const Key by(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  if (by == nullptr) return false;
  const Context context(EVP_MD_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, by.get()) == 1);
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(),
                          message.size()) == 1;
}

}  // namespace holdfast::base
