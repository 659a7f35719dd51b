// SPDX-License-Identifier: Apache-2.0
#include "kernel/cell_codec.h"

#include <utility>

#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/hash_trie.h"
#include "kernel/identity.h"
#include "kernel/limits.h"
#include "kernel/list_reader.h"
#include "kernel/mail_codec.h"

namespace holdfast::kernel {
namespace {

// A leaf of cells that are all as large as a cell can be is still a blob: key, state, outcome and
// mail, then the intents, then the chunks of mail, of which each has many messages of a few KiB.
constexpr std::size_t kHashBytes = 34;
constexpr std::size_t kMostMailChunks = 2048;
constexpr std::size_t kMostCellBytes =
    kMaxKeyBytes + 2 * kInlineValueBytes + kInlineMailBytes +
    kHashBytes * (kMaxOpenIntents + kMaxStateParts + kMostMailChunks + 8);
static_assert((kMaxOpenIntents + kMaxMailInCircle + kMaxDeliveriesPerStep) *
                  (std::size_t{8} << 10) <
              kMostMailChunks * (std::size_t{1} << 18));
static_assert(HashTrie::kLeafEntries * kMostCellBytes < kMaxBlobBytes);

base::Error damaged_cell() { return {base::ErrorCode::kCorrupt, "a cell in the index is damaged"}; }

void write_blob(codec::Buffer& out, const std::optional<base::Hash>& blob) {
  codec::write_bytes(out, blob ? base::ByteView(blob->bytes) : base::ByteView());
}

// Nothing of it where only the parts behind it are wanted.
void write_child(codec::Buffer& out, const Cell& cell) {
  const bool is_child = cell.run_by || cell.doomed;
  codec::write_list_head(out, is_child ? 3 : 0);
  if (!is_child) return;
  codec::write_bytes(out,
                     cell.run_by ? base::ByteView(cell.run_by->intent.bytes) : base::ByteView());
  codec::write_nat(out, cell.run_by ? cell.run_by->depth : 0);
  codec::write_bool(out, cell.doomed);
}

bool read_child(codec::View view, bool is_needed, Cell& cell) {
  if (!is_needed && view.kind() == codec::ViewKind::kList && view.size() == 0) return true;
  ListReader list(view);
  const std::optional<base::Hash> intent = list.optional_hash();
  const std::uint32_t depth = list.nat32();
  cell.doomed = list.boolean();
  if (intent) cell.run_by = RunBy{*intent, depth};
  return list.done() && intent.has_value() == (depth != 0) && depth <= kMaxChildDepth &&
         (intent || cell.doomed);
}

bool read_parts(codec::View view, Cell& cell) {
  ListReader parts(view);
  while (parts.good() && !parts.at_end()) cell.parts.push_back({parts.hash(), {}});
  return parts.good() && !cell.parts.empty() && cell.parts.size() <= kMaxStateParts;
}

// A value is in one place. False: it is in two.
bool read_value(ListReader& list, base::Bytes& value, std::optional<base::Hash>& blob) {
  const base::ByteView bytes = list.bytes();
  value.assign(bytes.begin(), bytes.end());
  blob = list.optional_hash();
  return value.empty() || !blob;
}

}  // namespace

base::Hash key_hash(base::ByteView key) { return value_hash(key); }

base::Result<base::Bytes> encode_cell(const Cell& cell, Blobs& blobs) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  const bool is_child = cell.run_by || cell.doomed;
  const bool has_parts = !cell.parts.empty();
  codec::write_list_head(out, has_parts ? 15 : is_child ? 14 : cell.trace.empty() ? 12 : 13);
  codec::write_bytes(out, cell.key);
  codec::write_nat(out, static_cast<std::uint64_t>(cell.phase));
  codec::write_bool(out, cell.paused);
  codec::write_nat(out, cell.last_record);
  codec::write_nat(out, cell.last_active_ns);
  codec::write_bytes(out, cell.state_blob ? base::ByteView() : base::ByteView(cell.state));
  write_blob(out, cell.state_blob);
  codec::write_bytes(out, cell.outcome_blob ? base::ByteView() : base::ByteView(cell.outcome));
  write_blob(out, cell.outcome_blob);
  codec::write_list_head(out, cell.intents.size());
  for (const base::Hash& intent : cell.intents) codec::write_bytes(out, intent.bytes);
  TRY(write_mailbox(out, cell.mail, blobs));
  if (!cell.trace.empty() || is_child || has_parts) codec::write_bytes(out, cell.trace);
  if (is_child || has_parts) write_child(out, cell);
  if (has_parts) {
    codec::write_list_head(out, cell.parts.size());
    for (const StatePart& part : cell.parts) codec::write_bytes(out, part.hash.bytes);
  }
  return out.to_bytes();
}

base::Result<Cell> decode_cell(base::ByteView bytes, std::vector<base::Hash>& mail_chunks) {
  if (!codec::is_well_formed(bytes)) return damaged_cell();
  ListReader list(codec::View::of(bytes));
  Cell cell;
  const base::ByteView key = list.bytes();
  cell.key.assign(key.begin(), key.end());
  cell.phase = list.choice(Phase::kCancelled);
  cell.paused = list.boolean();
  cell.last_record = list.nat();
  cell.last_active_ns = list.nat();
  const bool has_one_state = read_value(list, cell.state, cell.state_blob);
  const bool has_one_outcome = read_value(list, cell.outcome, cell.outcome_blob);
  cell.has_state = !cell.state.empty() || cell.state_blob.has_value();
  ListReader intents(list.next());
  while (intents.good() && !intents.at_end()) {
    const base::Hash intent = intents.hash();
    intents.require(!intent.is_zero());
    cell.intents.push_back(intent);
  }
  const codec::View here = list.next();
  const codec::View chunked = list.next();
  if (!list.at_end()) {
    const base::ByteView trace = list.bytes();
    cell.trace.assign(trace.begin(), trace.end());
    const bool is_child = !list.at_end();
    list.require((trace.empty() && is_child) || base::TraceContext::of(trace).has_value());
    if (is_child) {
      const codec::View child = list.next();
      const bool has_parts = !list.at_end();
      list.require(read_child(child, !has_parts, cell));
      if (has_parts) list.require(read_parts(list.next(), cell));
    }
  }
  if (!list.done() || !intents.good() || !has_one_state || !has_one_outcome) return damaged_cell();
  if (!read_mailbox(here, chunked, cell.mail, mail_chunks)) return damaged_cell();
  // What has ended waits for nothing, and what has not has no outcome.
  const bool waits = !cell.intents.empty() || !cell.mail.empty() || !mail_chunks.empty() ||
                     cell.run_by || cell.doomed;
  const bool has_outcome = !cell.outcome.empty() || cell.outcome_blob.has_value();
  if (cell.terminal() ? cell.paused || waits : has_outcome) return damaged_cell();
  return cell;
}

base::Result<Cell> decode_cell(base::ByteView bytes, const Blobs& blobs) {
  std::vector<base::Hash> chunks;
  Cell cell = TRY(decode_cell(bytes, chunks));
  for (const base::Hash& chunk : chunks) TRY(read_mail_chunk(TRY(blobs.get(chunk)), cell.mail));
  return cell;
}

}  // namespace holdfast::kernel
