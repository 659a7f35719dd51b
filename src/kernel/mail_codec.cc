// SPDX-License-Identifier: Apache-2.0
#include "kernel/mail_codec.h"

#include <utility>

#include "codec/cbor_writer.h"
#include "kernel/chunks.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {

void write_mail(codec::Buffer& out, const Mail& mail) {
  const bool has_params = mail.origin.params_hash.has_value();
  const bool has_worker = has_params || !mail.origin.worker.empty() || mail.origin.losses != 0;
  codec::write_list_head(out, has_params ? 19 : has_worker ? 18 : 16);
  codec::write_nat(out, static_cast<std::uint64_t>(mail.kind));
  codec::write_text(out, mail.schema);
  codec::write_bytes(out, mail.value);
  codec::write_bytes(out, mail.away ? base::ByteView(mail.away->blob.bytes) : base::ByteView());
  codec::write_nat(out, mail.away ? mail.away->size : 0);
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
  if (!has_worker) return;
  codec::write_text(out, mail.origin.worker);
  codec::write_nat(out, mail.origin.losses);
  if (has_params) codec::write_bytes(out, mail.origin.params_hash->bytes);
}

namespace {

// A value is in one place, and in a blob only if it is large.
bool read_value(ListReader& list, Mail& mail) {
  const base::ByteView value = list.bytes();
  mail.value.assign(value.begin(), value.end());
  const std::optional<base::Hash> blob = list.optional_hash();
  const std::uint64_t size = list.nat();
  if (!blob) return size == 0;
  mail.away = PutAway{*blob, size};
  return value.empty() && size > kInlineValueBytes;
}

}  // namespace

bool read_mail(codec::View view, Mail& mail) {
  ListReader list(view);
  mail.kind = list.choice(MailKind::kProgress);
  mail.schema = list.text();
  const bool has_value = read_value(list, mail);
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
  if (!list.at_end()) {
    mail.origin.worker = list.text();
    mail.origin.losses = list.nat();
    if (!list.at_end()) mail.origin.params_hash = list.hash();
    list.require(mail.origin.params_hash || !mail.origin.worker.empty() || mail.origin.losses != 0);
  }
  return has_value && list.done();
}

namespace {

bool read_into(codec::View view, Mailbox& mail) {
  Mail message;
  if (!read_mail(view, message)) return false;
  mail.push_back(std::move(message));
  return true;
}

}  // namespace

base::Result<void> write_mailbox(codec::Buffer& out, const Mailbox& mail, Blobs& blobs) {
  codec::Buffer here;
  for (const Mail& message : mail) {
    write_mail(here, message);
    if (here.size() > kInlineMailBytes) break;
  }
  ChunkWriter chunks(blobs);
  if (here.size() <= kInlineMailBytes) {
    codec::write_list_head(out, mail.size());
    out.append(here.view());
    return chunks.finish(out);
  }
  codec::write_list_head(out, 0);
  for (const Mail& message : mail) {
    write_mail(chunks.entry(), message);
    TRY(chunks.entry_done());
  }
  return chunks.finish(out);
}

bool read_mailbox(codec::View here, codec::View chunked, Mailbox& mail,
                  std::vector<base::Hash>& chunks) {
  ListReader messages(here);
  while (messages.good() && !messages.at_end()) {
    if (!read_into(messages.next(), mail)) return false;
  }
  auto hashes = chunk_hashes(chunked);
  if (!hashes || !messages.good()) return false;
  chunks = std::move(*hashes);
  return mail.empty() || chunks.empty();
}

base::Result<void> read_mail_chunk(base::ByteView chunk, Mailbox& mail) {
  return visit_chunk(chunk, [&](codec::View entry) { return read_into(entry, mail); });
}

}  // namespace holdfast::kernel
