// SPDX-License-Identifier: Apache-2.0
// Signatures of receipts, Ed25519: for workers on other machines, which are still to come. Not
// connected yet: a kernel that is given EnrolledKeys (kernel::WorldOptions::verifier) takes signed
// receipts of these keys only as they were signed, and no engine or server gives it any.
//
// A worker will sign each receipt that it sends: kernel::receipt_message() is what it signs. A node
// answers for the receipts of its own executors, and signs nothing one by one: see node/seal.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "base/bytes.h"
#include "base/ed25519.h"
#include "base/hash.h"
#include "executors/signing_key.h"
#include "kernel/verifier.h"

namespace holdfast::executors {

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
