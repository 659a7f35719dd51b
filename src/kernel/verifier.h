// SPDX-License-Identifier: Apache-2.0
// ReceiptVerifier: whether a receipt's signature is good. Ed25519 is somebody else's library and
// which keys are enrolled is somebody else's knowledge, so both are given to the world.
#pragma once

#include "base/bytes.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

// What is signed: a canonical list of a fixed word, the intent, the status and the payload's hash.
base::Bytes receipt_message(const base::Hash& intent, ReceiptStatus status, base::ByteView payload);
base::Bytes receipt_message(const base::Hash& intent, ReceiptStatus status,
                            const base::Hash& payload);  // by its SHA-256

class ReceiptVerifier {
 public:
  virtual ~ReceiptVerifier() = default;

  virtual bool is_good(const Signature& signature, base::ByteView message) const = 0;
};

}  // namespace holdfast::kernel
