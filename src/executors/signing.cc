// SPDX-License-Identifier: Apache-2.0
#include "executors/signing.h"

#include <algorithm>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "executors/secret.h"

namespace holdfast::executors {

SigningKey::SigningKey(const base::Ed25519Seed& seed)
    : seed_(seed), public_key_(base::ed25519_public_key(seed)) {}

SigningKey::~SigningKey() { wipe(seed_.data(), seed_.size()); }

base::Ed25519Signature SigningKey::sign(base::ByteView message) const {
  return base::ed25519_sign(seed_, message);
}

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

base::Hash seal_of(const base::Hash& before, std::uint64_t first_record,
                   std::span<const base::ByteView> records) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 4);
  codec::write_text(out, "holdfast.batch.1");
  codec::write_bytes(out, before.bytes);
  codec::write_nat(out, first_record);
  codec::write_list_head(out, records.size());
  for (const base::ByteView record : records) codec::write_bytes(out, base::sha256(record).bytes);
  return base::sha256(out.view());
}

base::Ed25519Signature sign_seal(const SigningKey& key, const base::Hash& seal) {
  return key.sign(seal.bytes);
}

bool is_good_seal(const base::Ed25519Key& key, const base::Hash& seal, base::ByteView signature) {
  return base::ed25519_verify(key, seal.bytes, signature);
}

}  // namespace holdfast::executors
