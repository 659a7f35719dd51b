// SPDX-License-Identifier: Apache-2.0
#include "executors/signing_key.h"

#include "executors/secret.h"

namespace holdfast::executors {

SigningKey::SigningKey(const base::Ed25519Seed& seed)
    : seed_(seed), public_key_(base::ed25519_public_key(seed)) {}

SigningKey::~SigningKey() { wipe(seed_.data(), seed_.size()); }

base::Ed25519Signature SigningKey::sign(base::ByteView message) const {
  return base::ed25519_sign(seed_, message);
}

}  // namespace holdfast::executors
