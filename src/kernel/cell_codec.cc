// SPDX-License-Identifier: Apache-2.0
#include "kernel/cell_codec.h"

#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/identity.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

void write_mail(codec::Buffer& out, const Mail& mail) {
  codec::write_list_head(out, 14);
  codec::write_nat(out, static_cast<std::uint64_t>(mail.kind));
  codec::write_text(out, mail.schema);
  codec::write_bytes(out, mail.value);
  codec::write_bytes(out, mail.origin.intent.bytes);
  codec::write_text(out, mail.origin.effect);
  codec::write_text(out, mail.origin.issuer_ref);
  codec::write_nat(out, mail.origin.opened_at);
  codec::write_nat(out, static_cast<std::uint64_t>(mail.status));
  codec::write_nat(out, mail.sequence);
  codec::write_text(out, mail.note);
  write_optional_nat(out, mail.cost_cents);
  codec::write_bytes(out, mail.signature);
  codec::write_bytes(out, mail.payload_hash.bytes);
  codec::write_nat(out, mail.payload_size);
}

bool read_mail(codec::View view, Mail& mail) {
  ListReader list(view);
  mail.kind = list.choice(MailKind::kProgress);
  mail.schema = list.text();
  const base::ByteView value = list.bytes();
  mail.value.assign(value.begin(), value.end());
  mail.origin.intent = list.hash();
  mail.origin.effect = list.text();
  mail.origin.issuer_ref = list.text();
  mail.origin.opened_at = list.nat();
  mail.status = list.choice(ReceiptStatus::kCancelled);
  mail.sequence = list.nat();
  mail.note = list.text();
  mail.cost_cents = list.optional_nat();
  const base::ByteView signature = list.bytes();
  mail.signature.assign(signature.begin(), signature.end());
  mail.payload_hash = list.hash();
  mail.payload_size = list.nat();
  return list.done();
}

base::Error damaged() { return {base::ErrorCode::kCorrupt, "a cell in the index is damaged"}; }

}  // namespace

base::Hash key_hash(base::ByteView key) { return value_hash(key); }

base::Bytes encode_cell(const Cell& cell) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 10);
  codec::write_bytes(out, cell.key);
  codec::write_nat(out, static_cast<std::uint64_t>(cell.phase));
  codec::write_bool(out, cell.paused);
  codec::write_nat(out, cell.last_record);
  codec::write_nat(out, cell.last_active_ns);
  codec::write_bytes(out, cell.state);
  codec::write_bytes(out,
                     cell.state_blob ? base::ByteView(cell.state_blob->bytes) : base::ByteView());
  codec::write_bytes(out, cell.outcome);
  codec::write_list_head(out, cell.intents.size());
  for (const base::Hash& intent : cell.intents) codec::write_bytes(out, intent.bytes);
  codec::write_list_head(out, cell.mail.size());
  for (const Mail& mail : cell.mail) write_mail(out, mail);
  return out.to_bytes();
}

base::Result<Cell> decode_cell(base::ByteView bytes) {
  if (!codec::is_well_formed(bytes)) return damaged();
  ListReader list(codec::View::of(bytes));
  Cell cell;
  const auto copy = [](base::ByteView from, base::Bytes& to) {
    to.assign(from.begin(), from.end());
  };
  copy(list.bytes(), cell.key);
  cell.phase = list.choice(Phase::kCancelled);
  cell.paused = list.boolean();
  cell.last_record = list.nat();
  cell.last_active_ns = list.nat();
  copy(list.bytes(), cell.state);
  const base::ByteView blob = list.bytes();
  copy(list.bytes(), cell.outcome);
  ListReader intents(list.next());
  while (intents.good() && !intents.at_end()) cell.intents.push_back(intents.hash());
  ListReader mailbox(list.next());
  while (mailbox.good() && !mailbox.at_end()) {
    if (!read_mail(mailbox.next(), cell.mail.emplace_back())) return damaged();
  }
  if (!blob.empty()) {
    cell.state_blob.emplace();
    if (blob.size() != cell.state_blob->bytes.size()) return damaged();
    std::copy(blob.begin(), blob.end(), cell.state_blob->bytes.begin());
  }
  cell.has_state = !cell.state.empty() || cell.state_blob.has_value();
  if (!list.done() || !intents.good() || !mailbox.good()) return damaged();
  // A state is in one place, and what has ended waits for nothing.
  if (!cell.state.empty() && cell.state_blob) return damaged();
  if (cell.terminal() && (cell.paused || !cell.intents.empty() || !cell.mail.empty()))
    return damaged();
  return cell;
}

}  // namespace holdfast::kernel
