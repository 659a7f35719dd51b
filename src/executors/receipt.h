// SPDX-License-Identifier: Apache-2.0
// Receipt: how an effect ended, as an executor makes it: the receipt schema's value, or
// sys/EffectError@1.
#pragma once

#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "codec/buffer.h"
#include "executors/effect_blobs.h"
#include "kernel/mail.h"

namespace holdfast::executors {

struct Receipt {
  kernel::ReceiptStatus status = kernel::ReceiptStatus::kOk;
  base::Bytes payload;  // CBOR
  BlobPin pin = {};     // of the blobs that it names, if it is the first to do so
};

// Whether doing the same again later could end differently.
enum class Retry : bool { kUseless, kMayHelp };

inline Receipt succeeded(const codec::Buffer& payload, BlobPin pin = {}) {
  return {kernel::ReceiptStatus::kOk, payload.to_bytes(), std::move(pin)};
}

// The code is "<kind of executor>.<what happened>". Texts are cut and made UTF-8.
Receipt failed(std::string_view code, std::string_view message, Retry retry = Retry::kUseless);
Receipt failed(std::string_view code, const base::Error& error);

// It took longer than it was allowed to.
Receipt timed_out(std::string_view code, std::string_view message);

}  // namespace holdfast::executors
