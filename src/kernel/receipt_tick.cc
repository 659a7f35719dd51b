// SPDX-License-Identifier: Apache-2.0
// A terminal result comes back. The intent is settled first, whatever the result says; then the
// instance that opened it hears of it.
#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/limits.h"
#include "kernel/effect_error.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

// Who is said to have signed what, and how often that has happened: somebody should know.
Refused bad_signature(WorldState& world, const ReceiptArrived& receipt, const std::string& why) {
  Refused refusal{base::ErrorCode::kInvalid,
                  "the signature of the receipt of " + receipt.intent.to_text() + " is not good"};
  const base::ByteView key = receipt.signature.key;
  refusal.details = {std::string(kBadSignature), why,
                     "key " + base::to_hex(key.first(std::min(key.size(), kKeyBytes))),
                     std::to_string(++world.counters.bad_signatures) +
                         " bad signatures since the world was opened"};
  return refusal;
}

// Nothing: it is good, or there is none.
std::optional<Refused> check_signature(WorldState& world, const ReceiptArrived& receipt) {
  const Signature& signature = receipt.signature;
  if (signature.key.empty() && signature.bytes.empty()) return std::nullopt;
  if (signature.key.size() != kKeyBytes || signature.bytes.size() != kSignatureBytes)
    return bad_signature(world, receipt, "it is not an Ed25519 signature");
  if (world.replaying) return std::nullopt;
  if (world.options.verifier == nullptr)
    return Refused{base::ErrorCode::kUnavailable, "signatures cannot be checked here"};
  const base::Bytes message =
      receipt_message(receipt.intent, receipt.status, receipt.payload_hash());
  if (world.options.verifier->is_good(signature, message)) return std::nullopt;
  return bad_signature(world, receipt, "the key is not enrolled, or did not sign this");
}

void reject(const ReceiptArrived& receipt, Mail& mail, const std::string& why) {
  mail.kind = MailKind::kRejected;
  mail.note = shown(why);
  mail.payload_hash = receipt.payload_hash();
  mail.payload_size = receipt.payload_size();
}

bool is_stopping(const Intent& intent) {
  return intent.lease() != nullptr && intent.lease()->is_stopping;
}

SettledBy settled_by(const Fence& fence) {
  return fence.dispatch != 0 && !fence.worker.empty() ? SettledBy::kItsWorker : SettledBy::kOthers;
}

void write_stopped(const ReceiptArrived& receipt, Mail& mail) {
  codec::Buffer error;
  write_effect_error(error, kStopped, "it was asked to stop, and its worker has ended it");
  mail.status = ReceiptStatus::kCancelled;
  mail.value.assign(error.view().begin(), error.view().end());
  mail.cost_cents = receipt.cost_cents;
}

void write_mail(WorldState& world, const ReceiptArrived& receipt, const Intent& intent,
                Mail& mail) {
  const EffectProgram& effect = world.program->effect(intent.effect());
  mail.kind = MailKind::kReceipt;
  write_origin(world, receipt.intent, intent, mail.origin);
  if (is_stopping(intent)) return write_stopped(receipt, mail);
  mail.status = receipt.status;
  if (receipt.is_too_large()) {
    return reject(receipt, mail,
                  "it has " + std::to_string(receipt.payload_size()) + " bytes, more than 16 MiB");
  }
  const codec::Schema& wanted =
      receipt.status == ReceiptStatus::kOk ? effect.receipt : world.program->error_schema();
  const auto payload = world.normaliser.part_from_cbor(wanted, receipt.payload);
  if (payload) {
    mail.value.assign(payload->begin(), payload->end());
    mail.cost_cents = receipt.cost_cents;
    mail.signature.assign(receipt.signature.bytes.begin(), receipt.signature.bytes.end());
  } else {
    reject(receipt, mail, payload.error().to_string());
  }
}

}  // namespace

base::Hash ReceiptArrived::payload_hash() const {
  if (left_out == 0) return base::sha256(payload);
  base::Hash hash;
  if (payload.size() == hash.bytes.size())
    std::copy(payload.begin(), payload.end(), hash.bytes.begin());
  return hash;
}

base::Bytes receipt_message(const base::Hash& intent, ReceiptStatus status,
                            base::ByteView payload) {
  return receipt_message(intent, status, base::sha256(payload));
}

base::Bytes receipt_message(const base::Hash& intent, ReceiptStatus status,
                            const base::Hash& payload) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 4);
  codec::write_text(out, "holdfast.receipt.1");
  codec::write_bytes(out, intent.bytes);
  codec::write_text(out, name_of(status));
  codec::write_bytes(out, payload.bytes);
  return out.to_bytes();
}

Answer reduce_receipt(WorldState& world, const ReceiptArrived& receipt) {
  if (receipt.left_out != 0 &&
      (receipt.payload.size() != sizeof(base::Hash) || receipt.left_out <= codec::kMaxValueBytes))
    return Refused{base::ErrorCode::kInvalid, "a payload is left out that need not be"};
  const Intent* intent = world.intents.find(world.blobs, receipt.intent);
  if (intent == nullptr)
    return answer_not_open(world, receipt.intent, receipt.fence, world.counters.repeated_receipts);
  if (auto refusal = refuse_in_kernel(world, *intent)) return std::move(*refusal);
  if (!is_present(*intent, receipt.fence)) return stale(world);
  if (auto refusal = check_signature(world, receipt)) return std::move(*refusal);
  Cell* cell = cell_of(world, *intent);
  if (cell == nullptr) return unreadable();

  const WorkflowProgram& workflow = world.program->workflow(cell->workflow);
  std::unique_ptr<Letter> letter = world.letters.take();
  Mail& mail = letter->mail;
  write_mail(world, receipt, *intent, mail);
  // Of one that was asked to stop nothing counts but that it has ended.
  const ReceiptStatus status = is_stopping(*intent) ? ReceiptStatus::kCancelled : receipt.status;
  settle(world, *cell, receipt.intent, status, settled_by(receipt.fence));
  if (mail.kind == MailKind::kRejected) {
    note(world, mail.fault(), {receipt.intent.to_text(), mail.note});
    if (!workflow.hears_rejected) {
      fail(world, *cell, mail.fault(),
           "the receipt of '" + mail.origin.effect + "' does not fit: " + mail.note);
      return Accepted{.settled = status};
    }
  } else if (!workflow.hears_receipts) {
    return Accepted{.settled = status};
  }
  deliver(world, *cell, std::move(letter));
  return Accepted{0, world.draft.deliveries, world.draft.ignored, false, status};
}

}  // namespace holdfast::kernel
