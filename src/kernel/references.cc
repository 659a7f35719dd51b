// SPDX-License-Identifier: Apache-2.0
#include "kernel/references.h"

#include "kernel/cell_codec.h"
#include "kernel/chunks.h"
#include "kernel/hash_trie_node.h"
#include "kernel/list_reader.h"
#include "kernel/mail_codec.h"
#include "kernel/proposal.h"
#include "kernel/snapshot_parts.h"

namespace holdfast::kernel {
namespace {

using References = std::vector<BlobReference>;

// The zero hash stands for nothing.
void add(References& into, const base::Hash& hash, BlobKind kind) {
  if (!hash.is_zero()) into.push_back({hash, kind});
}

base::Result<References> of_snapshot(base::ByteView bytes) {
  const SnapshotParts parts = TRY(read_snapshot(bytes));
  References found;
  add(found, parts.definitions, BlobKind::kPlain);
  for (const SnapshotParts::Workflow& workflow : parts.workflows)
    add(found, workflow.index.root(), BlobKind::kCellIndex);
  for (const SnapshotParts::Workflow& workflow : parts.retired)
    add(found, workflow.index.root(), BlobKind::kCellIndex);
  add(found, parts.intents.root(), BlobKind::kIntentIndex);
  for (const codec::View list : {parts.event_ids, parts.settled, parts.ready}) {
    for (const base::Hash& chunk : TRY(chunk_hashes(list))) add(found, chunk, BlobKind::kPlain);
  }
  for (const SnapshotParts::Source& source : parts.sources) {
    for (const base::Hash& chunk : TRY(chunk_hashes(source.chunks)))
      add(found, chunk, BlobKind::kPlain);
  }
  for (const auto& list : {parts.waiting, parts.workers, parts.cordons}) {
    if (!list) continue;
    for (const base::Hash& chunk : TRY(chunk_hashes(*list))) add(found, chunk, BlobKind::kPlain);
  }
  if (parts.numbering) {
    ListReader numbering(*parts.numbering);
    numbering.next();
    numbering.next();
    ListReader pins(numbering.next());
    while (pins.good() && !pins.at_end()) {
      pins.text();
      pins.hash();
      add(found, pins.hash(), BlobKind::kPlain);
    }
    if (!pins.done())
      return base::Error(base::ErrorCode::kCorrupt, "the snapshot's numbers cannot be used");
  }
  for (const base::Hash& chunk : TRY(chunk_hashes(parts.proposals)))
    add(found, chunk, BlobKind::kProposals);
  return found;
}

void add_values(References& into, const Mailbox& mail) {
  for (const Mail& message : mail) {
    if (message.away) add(into, message.away->blob, BlobKind::kPlain);
  }
}

base::Result<void> add_cell(References& into, base::ByteView entry) {
  std::vector<base::Hash> chunks;
  const Cell cell = TRY(decode_cell(entry, chunks));
  if (cell.state_blob) add(into, *cell.state_blob, BlobKind::kPlain);
  if (cell.outcome_blob) add(into, *cell.outcome_blob, BlobKind::kPlain);
  for (const StatePart& part : cell.parts) add(into, part.hash, BlobKind::kPlain);
  add_values(into, cell.mail);
  for (const base::Hash& chunk : chunks) add(into, chunk, BlobKind::kMail);
  return {};
}

// Of an index of cells (kCellIndex) or of open intents, whose entries name nothing.
base::Result<References> of_index(BlobKind kind, base::ByteView bytes) {
  const TrieNode node = TRY(decode_trie_node({bytes.begin(), bytes.end()}));
  References found;
  if (const auto* branch = std::get_if<TrieBranch>(&node)) {
    for (const TrieChild& child : branch->children) {
      const bool names_nothing = kind == BlobKind::kIntentIndex && child.is_leaf();
      if (child.count != 0) add(found, child.hash, names_nothing ? BlobKind::kPlain : kind);
    }
  } else if (kind == BlobKind::kCellIndex) {
    for (const TrieEntry& entry : std::get_if<TrieLeaf>(&node)->entries)
      TRY(add_cell(found, entry.bytes));
  }
  return found;
}

base::Result<References> of_mail(base::ByteView bytes) {
  Mailbox mail;
  TRY(read_mail_chunk(bytes, mail));
  References found;
  add_values(found, mail);
  return found;
}

base::Result<References> of_proposals(base::ByteView bytes) {
  References found;
  TRY(visit_chunk(bytes, [&](codec::View entry) {
    std::uint64_t id = 0;
    Proposal proposal;
    if (!read_proposal(entry, id, proposal)) return false;
    add(found, proposal.definitions, BlobKind::kPlain);
    return true;
  }));
  return found;
}

}  // namespace

base::Result<std::vector<BlobReference>> references_of(BlobKind kind, base::ByteView bytes) {
  switch (kind) {
    case BlobKind::kSnapshot: return of_snapshot(bytes);
    case BlobKind::kCellIndex:
    case BlobKind::kIntentIndex: return of_index(kind, bytes);
    case BlobKind::kProposals: return of_proposals(bytes);
    case BlobKind::kMail: return of_mail(bytes);
    case BlobKind::kPlain: break;
  }
  return References();
}

}  // namespace holdfast::kernel
