// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace holdfast::base {
namespace {

// OpenSSL fails here only without memory or without its default provider; neither can be mended.
void begin(EVP_MD_CTX* context) {
  // Never freed: threads may still hash while the process ends.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  CHECK(algorithm != nullptr);
  CHECK(EVP_DigestInit_ex2(context, algorithm, nullptr) == 1);
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr);
  begin(context_.get());
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

void Sha256::update(ByteView bytes) {
  CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Hash Sha256::finish() {
  Hash hash;
  CHECK(EVP_DigestFinal_ex(context_.get(), hash.bytes.data(), nullptr) == 1);
  begin(context_.get());
  return hash;
}

Hash sha256(ByteView bytes) {
  thread_local Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace holdfast::base
