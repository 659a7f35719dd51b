// SPDX-License-Identifier: Apache-2.0
#include "kernel/mail.h"

#include <array>

namespace holdfast::kernel {
namespace {

constexpr std::array<std::string_view, 4> kStatuses{"ok", "error", "timeout", "cancelled"};

}  // namespace

std::string_view name_of(ReceiptStatus status) noexcept {
  return kStatuses[static_cast<std::size_t>(status)];
}

std::optional<ReceiptStatus> receipt_status_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kStatuses.size(); ++i) {
    if (kStatuses[i] == name) return static_cast<ReceiptStatus>(i);
  }
  return std::nullopt;
}

void Mail::clear() {
  kind = MailKind::kEvent;
  schema.clear();
  value.clear();
  away.reset();
  origin.intent = {};
  origin.effect.clear();
  origin.issuer_ref.clear();
  origin.opened_at = 0;
  origin.worker.clear();
  origin.losses = 0;
  origin.params_hash.reset();
  status = ReceiptStatus::kOk;
  sequence = 0;
  note.clear();
  cost_cents.reset();
  signature.clear();
  payload_hash = {};
  payload_size = 0;
}

}  // namespace holdfast::kernel
