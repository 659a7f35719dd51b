// SPDX-License-Identifier: Apache-2.0
#include "kernel/record.h"

#include "codec/cbor_writer.h"
#include "kernel/identity.h"
#include "kernel/list_reader.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using codec::Buffer;

void write_kind(Buffer& out, TickKind kind, std::uint64_t fields) {
  codec::write_list_head(out, 1 + fields);
  codec::write_nat(out, static_cast<std::uint64_t>(kind));
}

struct TickWriter {
  Buffer& out;
  void operator()(const EventArrived& event) {
    write_kind(out, TickKind::kEvent, 6);
    codec::write_text(out, event.schema);
    out.append(event.value);
    codec::write_text(out, event.id);
    codec::write_text(out, event.workflow);
    codec::write_bytes(out, event.key);
    codec::write_bool(out, event.starts);
  }
  void operator()(const ReceiptArrived& receipt) {
    write_kind(out, TickKind::kReceipt, 6);
    codec::write_bytes(out, receipt.intent.bytes);
    codec::write_nat(out, static_cast<std::uint64_t>(receipt.status));
    // As it came: whether it fits is decided again on replay.
    codec::write_bytes(out, receipt.payload);
    write_optional_nat(out, receipt.cost_cents);
    codec::write_bytes(out, receipt.signature.key);
    codec::write_bytes(out, receipt.signature.bytes);
  }
  void operator()(const ProgressArrived& progress) {
    write_kind(out, TickKind::kProgress, 4);
    codec::write_bytes(out, progress.intent.bytes);
    codec::write_nat(out, progress.sequence);
    codec::write_text(out, progress.kind);
    codec::write_bytes(out, progress.payload);
  }
  void operator()(const Continue&) { write_kind(out, TickKind::kContinue, 0); }
  void operator()(const ControlRequested& request) {
    write_kind(out, TickKind::kControl, 4);
    codec::write_nat(out, static_cast<std::uint64_t>(request.control));
    codec::write_text(out, request.workflow);
    codec::write_bytes(out, request.key);
    codec::write_text(out, request.reason);
  }
  void operator()(const ApplyManifest& apply) {
    write_kind(out, TickKind::kApply, 1);
    codec::write_bytes(out, apply.definitions);
  }
  void operator()(const Propose& propose) {
    write_kind(out, TickKind::kPropose, 2);
    codec::write_bytes(out, propose.document);
    codec::write_text(out, propose.description);
  }
  void operator()(const ReportShadow& shadow) {
    write_kind(out, TickKind::kShadow, 2);
    codec::write_nat(out, shadow.proposal);
    codec::write_bytes(out, shadow.report);
  }
  void operator()(const Decide& decide) {
    write_kind(out, TickKind::kDecide, 4);
    codec::write_nat(out, decide.proposal);
    codec::write_bool(out, decide.approve);
    codec::write_text(out, decide.by);
    codec::write_text(out, decide.reason);
  }
  void operator()(const ApplyProposal& apply) {
    write_kind(out, TickKind::kApplyProposal, 1);
    codec::write_nat(out, apply.proposal);
  }
};

void write_optional_item(Buffer& out, base::ByteView item) {
  if (item.empty()) return codec::write_null(out);
  out.append(item);
}

void write_state(WorldState& world, Buffer& out, Cell* cell) {
  if (cell == nullptr || !cell->has_state) return codec::write_null(out);
  if (!cell->state_hash) {
    const base::ByteView state =
        world.cells[cell->workflow].state_of(*cell).value_or(base::ByteView());
    if (state.size() <= kMaxStateBytesInRecord) {
      codec::write_list_head(out, 1);
      return out.append(state);
    }
    cell->state_hash = value_hash(state);
  }
  codec::write_bytes(out, cell->state_hash->bytes);
}

void write_touched(WorldState& world, Buffer& out, const Touched& touched) {
  Cell* cell = touched.cell;
  codec::write_list_head(out, 12);
  codec::write_text(out, touched.workflow);
  codec::write_bytes(out, touched.key);
  codec::write_nat(out, touched.previous_record);
  if (cell == nullptr) {
    codec::write_text(out, "deleted");
  } else {
    codec::write_text(out, name_of(cell->status()));
  }
  codec::write_bool(out, cell != nullptr && cell->paused);
  write_state(world, out, cell);
  write_optional_item(
      out, cell == nullptr ? base::ByteView() : world.cells[cell->workflow].outcome_of(*cell));
  codec::write_nat(out, touched.steps);
  codec::write_nat(out, touched.ignored);
  codec::write_list_head(out, touched.opened.size());
  for (const Opened& opened : touched.opened) {
    codec::write_list_head(out, 3);
    codec::write_bytes(out, opened.intent.bytes);
    codec::write_text(out, opened.effect);
    out.append(opened.params);
  }
  codec::write_list_head(out, touched.settled.size());
  for (const Settled& settled : touched.settled) {
    codec::write_list_head(out, 2);
    codec::write_bytes(out, settled.intent.bytes);
    codec::write_text(out, name_of(settled.status));
  }
  codec::write_list_head(out, touched.annotations.size());
  for (const base::Bytes& annotations : touched.annotations) out.append(annotations);
}

}  // namespace

void encode_record(WorldState& world) {
  Buffer& out = world.record;
  out.clear();
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 8);
  codec::write_nat(out, kRecordVersion);
  codec::write_nat(out, world.next_record);
  codec::write_nat(out, world.tick->time_ns);
  codec::write_bytes(out, world.tick->entropy);
  std::visit(TickWriter{out}, world.tick->input);
  codec::write_list_head(out, world.draft.touched_count());
  for (std::size_t i = 0; i < world.draft.touched_count(); ++i)
    write_touched(world, out, world.draft.touched(i));
  codec::write_list_head(out, world.draft.emitted.size());
  for (const Emitted& emitted : world.draft.emitted) {
    codec::write_list_head(out, 2);
    codec::write_text(out, emitted.schema);
    out.append(emitted.value);
  }
  codec::write_list_head(out, world.draft.notes.size());
  for (const Note& note : world.draft.notes) {
    codec::write_list_head(out, 1 + note.details.size());
    codec::write_text(out, note.what);
    for (const std::string& detail : note.details) codec::write_text(out, shown(detail));
  }
}

}  // namespace holdfast::kernel
