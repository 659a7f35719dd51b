// SPDX-License-Identifier: Apache-2.0
// SHA-256 by OpenSSL. Most of what we hash is tiny (an event, an intent), where setting OpenSSL up
// costs several times the hashing: the algorithm is looked up once per process, and sha256() keeps
// one context per thread.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/hash.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX, so that its headers stay out of ours

namespace holdfast::base {

Hash sha256(ByteView bytes);

// For input that comes in pieces. After finish() it is as new.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(ByteView bytes);
  Hash finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace holdfast::base
