// SPDX-License-Identifier: Apache-2.0
// SigningKey: an Ed25519 key that signs. A node signs the records of its world with one
// (node/seal.h).
#pragma once

#include "base/bytes.h"
#include "base/ed25519.h"

namespace holdfast::executors {

// A seed that is wiped when it goes.
class SigningKey {
 public:
  explicit SigningKey(const base::Ed25519Seed& seed);
  ~SigningKey();
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;

  const base::Ed25519Key& public_key() const noexcept { return public_key_; }
  base::Ed25519Signature sign(base::ByteView message) const;

 private:
  base::Ed25519Seed seed_;
  base::Ed25519Key public_key_;
};

}  // namespace holdfast::executors
