// SPDX-License-Identifier: Apache-2.0
// A terminal result comes back. The intent is settled first, whatever the result says; then the
// instance that opened it hears of it.
#include <utility>

#include "base/check.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

Origin origin_of(const WorldState& world, const base::Hash& hash, const Intent& intent) {
  return {hash, world.program->effect(intent.effect()).name, std::string(intent.issuer_ref()),
          intent.opened_at()};
}

}  // namespace

Answer reduce_receipt(WorldState& world, const ReceiptArrived& receipt) {
  const Intent* intent = world.intents.find(receipt.intent);
  if (intent == nullptr) {
    if (const SettledIntent* before = world.settled.find(receipt.intent))
      return Repeated{before->record};
    return Refused{base::ErrorCode::kNotFound, "no open intent " + receipt.intent.to_text()};
  }
  Cell* cell = world.cells[intent->workflow()].find(intent->key());
  CHECK(cell != nullptr && !cell->terminal());  // ending an instance settles its intents

  const EffectProgram& effect = world.program->effect(intent->effect());
  Mail mail;
  mail.kind = MailKind::kReceipt;
  mail.origin = origin_of(world, receipt.intent, *intent);
  mail.status = receipt.status;
  const codec::Schema& wanted =
      receipt.status == ReceiptStatus::kOk ? effect.receipt : world.program->error_schema();
  const auto payload =
      world.normaliser.from_cbor(wanted, receipt.payload, codec::Strictness::kLenient);
  if (payload) {
    mail.value.assign(payload->begin() + sizeof codec::kSelfDescribe, payload->end());
  } else {
    mail.kind = MailKind::kRejected;
    mail.note = payload.error().to_string();
  }
  settle(world, *cell, receipt.intent, receipt.status);
  if (mail.kind == MailKind::kRejected &&
      !world.program->workflow(cell->workflow).accepts_rejected) {
    fail(world, *cell, "receipt.invalid_payload",
         "the receipt of '" + effect.name + "' does not fit: " + mail.note);
    return Accepted{};
  }
  deliver(world, *cell, std::move(mail));
  return Accepted{0, world.draft.deliveries, world.draft.ignored, false};
}

Answer reduce_progress(WorldState& world, const ProgressArrived& progress) {
  const Intent* intent = world.intents.find(progress.intent);
  if (intent == nullptr) {
    if (const SettledIntent* before = world.settled.find(progress.intent))
      return Repeated{before->record};
    return Refused{base::ErrorCode::kNotFound, "no open intent " + progress.intent.to_text()};
  }
  if (progress.sequence <= intent->last_progress) return Repeated{intent->opened_at()};
  Cell* cell = world.cells[intent->workflow()].find(intent->key());
  CHECK(cell != nullptr && !cell->terminal());
  if (cell->mail.size() >= kMaxMailPerInstance) {
    return Refused{base::ErrorCode::kUnavailable, "too much mail waits for the instance"};
  }
  const auto payload = world.normaliser.from_cbor(codec::Schema::item(), progress.payload,
                                                  codec::Strictness::kLenient);
  if (!payload)
    return Refused{base::ErrorCode::kInvalid,
                   "the progress payload: " + payload.error().to_string()};
  world.intents.progressed(progress.intent, progress.sequence);
  Mail mail;
  mail.kind = MailKind::kProgress;
  mail.origin = origin_of(world, progress.intent, *intent);
  mail.sequence = progress.sequence;
  mail.note = progress.kind;
  mail.value.assign(payload->begin() + sizeof codec::kSelfDescribe, payload->end());
  deliver(world, *cell, std::move(mail));
  return Accepted{0, world.draft.deliveries, world.draft.ignored, false};
}

}  // namespace holdfast::kernel
