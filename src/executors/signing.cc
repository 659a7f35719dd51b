// SPDX-License-Identifier: Apache-2.0
#include "executors/signing.h"

#include <algorithm>

namespace holdfast::executors {

base::Ed25519Signature sign_receipt(const SigningKey& key, const base::Hash& intent,
                                    kernel::ReceiptStatus status, base::ByteView payload) {
  return key.sign(kernel::receipt_message(intent, status, payload));
}

void EnrolledKeys::enroll(const base::Ed25519Key& key) {
  const std::lock_guard lock(mutex_);
  keys_.insert(key);
}

void EnrolledKeys::dismiss(const base::Ed25519Key& key) {
  const std::lock_guard lock(mutex_);
  keys_.erase(key);
}

bool EnrolledKeys::is_good(const kernel::Signature& signature, base::ByteView message) const {
  base::Ed25519Key key{};
  if (signature.key.size() != key.size()) return false;
  std::copy(signature.key.begin(), signature.key.end(), key.begin());
  {
    const std::lock_guard lock(mutex_);
    if (!keys_.contains(key)) return false;
  }
  return base::ed25519_verify(key, message, signature.bytes);
}

}  // namespace holdfast::executors
