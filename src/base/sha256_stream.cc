// SPDX-License-Identifier: Apache-2.0
#include "base/sha256_stream.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace holdfast::base {

struct Sha256Stream::State {
  State() : context(EVP_MD_CTX_new()) {
    CHECK(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(ByteView bytes) noexcept {
  CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Hash Sha256Stream::finish() noexcept {
  Hash hash;
  CHECK(EVP_DigestFinal_ex(state_->context, hash.bytes.data(), nullptr) == 1);
  return hash;
}

}  // namespace holdfast::base
