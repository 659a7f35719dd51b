// SPDX-License-Identifier: Apache-2.0
#include "executors/receipt.h"

#include "codec/cbor_writer.h"
#include "kernel/text.h"

namespace holdfast::executors {
namespace {

// The fields stand in canonical order.
base::Bytes effect_error(std::string_view code, std::string_view message, bool retryable) {
  codec::Buffer out;
  codec::write_map_head(out, 4);  // sys/EffectError@1
  codec::write_text(out, "code");
  codec::write_text(out, kernel::shown(code));
  codec::write_text(out, "details");
  codec::write_null(out);
  codec::write_text(out, "message");
  codec::write_text(out, kernel::shown(message));
  codec::write_text(out, "retryable");
  codec::write_bool(out, retryable);
  return out.to_bytes();
}

}  // namespace

Receipt failed(std::string_view code, std::string_view message, Retry retry) {
  return {kernel::ReceiptStatus::kError, effect_error(code, message, retry == Retry::kMayHelp)};
}

Receipt failed(std::string_view code, const base::Error& error) {
  return failed(code, error.to_string(),
                base::retry_may_help(error.code()) ? Retry::kMayHelp : Retry::kUseless);
}

Receipt timed_out(std::string_view code, std::string_view message) {
  return {kernel::ReceiptStatus::kTimeout, effect_error(code, message, true)};
}

}  // namespace holdfast::executors
