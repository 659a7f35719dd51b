// SPDX-License-Identifier: Apache-2.0
#include "kernel/read_back.h"

#include "kernel/cell_codec.h"
#include "kernel/open_intents.h"

namespace holdfast::kernel {

bool ReadBack::is_canonical(const codec::Schema& schema, base::ByteView value) {
  const auto made = normaliser_.part_from_cbor(schema, value);
  return made && (made->data() == value.data() || base::equal(*made, value));
}

bool ReadBack::key_fits(std::uint32_t workflow, base::ByteView key) {
  const auto& schema = program_->workflow(workflow).key;
  return schema ? is_canonical(*schema, key) : key.empty();
}

// What ended may be of an earlier program, and no machine will see it; but records show it.
bool ReadBack::state_fits(const Cell& cell, base::ByteView state) {
  if (cell.terminal()) return is_canonical(codec::Schema::item(), state);
  return is_canonical(program_->workflow(cell.workflow).state, state);
}

bool ReadBack::outcome_fits(base::ByteView outcome) {
  return is_canonical(codec::Schema::item(), outcome);
}

bool ReadBack::value_fits(const codec::Schema& schema, const Mail& mail) {
  return mail.away || is_canonical(schema, mail.value);
}

bool ReadBack::mail_fits(std::uint32_t workflow, const Mail& mail) {
  if (mail.kind == MailKind::kEvent) {
    const EventProgram* event = program_->event_of(program_->workflow(workflow), mail.schema);
    if (event != nullptr) return value_fits(event->schema, mail);
    // A manifest need not list the system's schemas, so an arm may have one that is not compiled.
    return program_->workflow(workflow).arm_of_schema(mail.schema) != nullptr &&
           value_fits(codec::Schema::item(), mail);
  }
  const auto* allowed = program_->workflow(workflow).effects.find(mail.origin.effect);
  if (allowed == nullptr) return false;
  const std::uint32_t effect = allowed->second.effect;
  switch (mail.kind) {
    case MailKind::kReceipt:
      return value_fits(mail.status == ReceiptStatus::kOk ? program_->effect(effect).receipt
                                                          : program_->error_schema(),
                        mail);
    case MailKind::kProgress: return value_fits(codec::Schema::item(), mail);
    case MailKind::kRejected: return mail.value.empty() && !mail.away;
    case MailKind::kEvent: break;
  }
  return false;
}

bool ReadBack::fits(const Cell& cell) {
  if (key_hash(cell.key) != cell.id) return false;
  if (!cell.state.empty() && !state_fits(cell, cell.state)) return false;
  if (!cell.outcome.empty() && !outcome_fits(cell.outcome)) return false;
  if (cell.terminal()) return true;  // its key may be of an earlier program, too
  if (!key_fits(cell.workflow, cell.key)) return false;
  for (const Mail& mail : cell.mail) {
    if (!mail_fits(cell.workflow, mail)) return false;
  }
  return true;
}

bool ReadBack::fits(const Intent& intent) {
  return intent.workflow() < program_->workflow_count() &&
         intent.effect() < program_->effect_count() && key_fits(intent.workflow(), intent.key()) &&
         is_canonical(program_->effect(intent.effect()).params, intent.params());
}

}  // namespace holdfast::kernel
