// SPDX-License-Identifier: Apache-2.0
// Signatures of receipts, Ed25519.
//
// A worker signs each receipt that it sends: kernel::receipt_message() is what it signs, and the
// world checks it as the receipt comes in. A node answers for the receipts of its own executors,
// and signs nothing one by one: see node/seal.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "base/bytes.h"
#include "base/ed25519.h"
#include "base/hash.h"
#include "kernel/verifier.h"

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

base::Ed25519Signature sign_receipt(const SigningKey& key, const base::Hash& intent,
                                    kernel::ReceiptStatus status, base::ByteView payload);

// The keys whose word counts. From any thread.
class EnrolledKeys : public kernel::ReceiptVerifier {
 public:
  void enroll(const base::Ed25519Key& key);
  void dismiss(const base::Ed25519Key& key);

  bool is_good(const kernel::Signature& signature, base::ByteView message) const override;

 private:
  mutable std::mutex mutex_;
  std::set<base::Ed25519Key> keys_;
};

}  // namespace holdfast::executors
