// SPDX-License-Identifier: Apache-2.0
#include "kernel/record.h"

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/pen.h"
#include "kernel/identity.h"
#include "kernel/list_reader.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using codec::Buffer;
using codec::Pen;

template <class Out>
[[gnu::always_inline]] inline void write_kind(Out& out, TickKind kind, std::uint64_t fields) {
  codec::write_list_head(out, 1 + fields);
  codec::write_nat(out, static_cast<std::uint64_t>(kind));
}

struct TickWriter {
  Buffer& out;
  base::ByteView counted;  // of a list of leases or instances: those that count

  // Who asked stands at the end, and only where it is known: so records without are as they were.
  void write_by(std::string_view by) {
    if (!by.empty()) codec::write_text(out, by);
  }
  // The same for whose word it is.
  template <class Out>
  static void write_fence(Out& out, const Fence& fence) {
    codec::write_text(out, fence.worker);
    codec::write_nat(out, fence.dispatch);
  }
  // The two that come most often write with a pen.
  void operator()(const EventArrived& event) {
    Pen pen(out);
    const bool starts_again = event.reuse == KeyReuse::kStartAgain;
    write_kind(pen, TickKind::kEvent, starts_again ? 8 : event.trace.empty() ? 6 : 7);
    codec::write_text(pen, event.schema);
    pen.append(event.value);
    codec::write_text(pen, event.id);
    codec::write_text(pen, event.workflow);
    codec::write_bytes(pen, event.key);
    codec::write_bool(pen, event.starts);
    if (!event.trace.empty() || starts_again) codec::write_bytes(pen, event.trace);
    if (starts_again) [[unlikely]]
      codec::write_nat(pen, 1);
  }
  void operator()(const ReceiptArrived& receipt) {
    Pen pen(out);
    write_kind(pen, TickKind::kReceipt, receipt.fence.dispatch == 0 ? 6 : 8);
    codec::write_bytes(pen, receipt.intent.bytes);
    codec::write_nat(pen, static_cast<std::uint64_t>(receipt.status));
    // As it came: whether it fits is decided again on replay.
    if (receipt.is_too_large()) [[unlikely]] {
      codec::write_list_head(pen, 2);
      codec::write_bytes(pen, receipt.payload_hash().bytes);
      codec::write_nat(pen, receipt.payload_size());
    } else {
      codec::write_bytes(pen, receipt.payload);
    }
    if (receipt.cost_cents) {
      codec::write_nat(pen, *receipt.cost_cents);
    } else {
      codec::write_null(pen);
    }
    codec::write_bytes(pen, receipt.signature.key);
    codec::write_bytes(pen, receipt.signature.bytes);
    if (receipt.fence.dispatch != 0) [[unlikely]]
      write_fence(pen, receipt.fence);
  }
  void operator()(const ProgressArrived& progress) {
    write_kind(out, TickKind::kProgress, progress.fence.dispatch == 0 ? 4 : 6);
    codec::write_bytes(out, progress.intent.bytes);
    codec::write_nat(out, progress.sequence);
    codec::write_text(out, progress.kind);
    codec::write_bytes(out, progress.payload);
    if (progress.fence.dispatch != 0) write_fence(out, progress.fence);
  }
  void operator()(const Continue&) { write_kind(out, TickKind::kContinue, 0); }
  void operator()(const ControlRequested& request) {
    write_kind(out, TickKind::kControl, 4 + !request.by.empty());
    codec::write_nat(out, static_cast<std::uint64_t>(request.control));
    codec::write_text(out, request.workflow);
    codec::write_bytes(out, request.key);
    codec::write_text(out, request.reason);
    write_by(request.by);
  }
  // What is said of it besides who asked comes last.
  void operator()(const ApplyManifest& apply) {
    if (apply.pin) {
      write_kind(out, TickKind::kApply, 3);
      codec::write_bytes(out, apply.definitions);
      codec::write_text(out, apply.by);
      codec::write_nat(out, 1);
      return;
    }
    write_kind(out, TickKind::kApply, 1 + !apply.by.empty());
    codec::write_bytes(out, apply.definitions);
    write_by(apply.by);
  }
  void operator()(const Propose& propose) {
    write_kind(out, TickKind::kPropose, 2 + !propose.by.empty());
    codec::write_bytes(out, propose.document);
    codec::write_text(out, propose.description);
    write_by(propose.by);
  }
  void operator()(const ReportShadow& shadow) {
    write_kind(out, TickKind::kShadow, 2 + !shadow.by.empty());
    codec::write_nat(out, shadow.proposal);
    codec::write_bytes(out, shadow.report);
    write_by(shadow.by);
  }
  void operator()(const Decide& decide) {
    write_kind(out, TickKind::kDecide, 4);
    codec::write_nat(out, decide.proposal);
    codec::write_bool(out, decide.approve);
    codec::write_text(out, decide.by);
    codec::write_text(out, decide.reason);
  }
  void operator()(const ApplyProposal& apply) {
    write_kind(out, TickKind::kApplyProposal, 1 + !apply.by.empty());
    codec::write_nat(out, apply.proposal);
    write_by(apply.by);
  }
  void operator()(const ForgetEnded& forget) {
    write_kind(out, TickKind::kForget, 1);
    codec::write_bytes(out, forget.instances);
  }
  void operator()(const WorkerEnrolled& enrolled) {
    write_kind(out, TickKind::kWorkerEnrolled, 5);
    codec::write_text(out, enrolled.worker);
    codec::write_text(out, enrolled.node);
    codec::write_text(out, enrolled.name);
    codec::write_bytes(out, enrolled.secret.bytes);
    codec::write_bytes(out, enrolled.description);
  }
  void operator()(const WorkerChanged& changed) {
    write_kind(out, TickKind::kWorkerChanged, 3 + !changed.by.empty());
    codec::write_text(out, changed.worker);
    codec::write_nat(out, static_cast<std::uint64_t>(changed.change));
    codec::write_text(out, changed.reason);
    write_by(changed.by);
  }
  void operator()(const Leased& leased) {
    write_kind(out, TickKind::kLeased, 2);
    codec::write_text(out, leased.worker);
    codec::write_bytes(out, counted);
  }
  void operator()(const Returned& returned) {
    write_kind(out, TickKind::kReturned, 2);
    codec::write_text(out, returned.worker);
    codec::write_bytes(out, counted);
  }
  void operator()(const StopAsked& asked) {
    write_kind(out, TickKind::kStopAsked, 2 + !asked.by.empty());
    codec::write_bytes(out, asked.intent.bytes);
    codec::write_text(out, asked.reason);
    write_by(asked.by);
  }
  void operator()(const SourceMarked& marked) {
    write_kind(out, TickKind::kSourceMarked, 2);
    codec::write_text(out, marked.source);
    codec::write_nat(out, marked.record);
  }
  void operator()(const ReopenInstance& reopen) {
    write_kind(out, TickKind::kReopen, 5 + !reopen.by.empty());
    codec::write_text(out, reopen.workflow);
    codec::write_bytes(out, reopen.key);
    codec::write_bytes(out, reopen.image);
    codec::write_nat(out, reopen.from);
    codec::write_text(out, reopen.reason);
    write_by(reopen.by);
  }
  void operator()(const MigrateInstances& migrate) {
    write_kind(out, TickKind::kMigrate, 1 + !migrate.by.empty());
    codec::write_bytes(out, counted);
    write_by(migrate.by);
  }
};

// What has a pen is inlined, so that the pen need not be in memory.
[[gnu::always_inline]] inline void write_optional_item(Pen& out, base::ByteView item) {
  if (item.empty()) return codec::write_null(out);
  out.append(item);
}

// The state is in a blob that is damaged: the record names the blob. A replay, which has the state,
// comes to the same name.
base::Hash name_of_unread(WorldState& world, std::size_t place, const Cell& cell) {
  world.draft.halts.push_back({HaltKind::kStateUnread, place, {}});
  return cell.state_blob ? *cell.state_blob : base::sha256(cell.state);
}

[[gnu::always_inline]] inline void write_state(WorldState& world, Pen& out, std::size_t place,
                                               Cell* cell) {
  if (cell == nullptr || !cell->has_state) return codec::write_null(out);
  if (find_halt(world, place, true) != nullptr) [[unlikely]]
    return codec::write_bytes(out, name_of_unread(world, place, *cell).bytes);
  if (!cell->state_hash) {
    auto read = world.cells[cell->workflow].state_of(*cell);
    if (!read) [[unlikely]] {
      const bool is_its_own = !failure_of(world) && is_damage(read.error()) && !world.replaying;
      if (!is_its_own && !failure_of(world)) world.failure = std::move(read).error();
      return codec::write_bytes(out, name_of_unread(world, place, *cell).bytes);
    }
    const base::ByteView state = read->value_or(base::ByteView());
    if (state.size() <= kMaxStateBytesInRecord) {
      codec::write_list_head(out, 1);
      return out.append(state);
    }
    cell->state_hash = value_hash(state);
  }
  codec::write_bytes(out, cell->state_hash->bytes);
}

[[gnu::always_inline]] inline void write_touched(WorldState& world, Pen& out, std::size_t place) {
  const Touched& touched = world.draft.touched(place);
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
  write_state(world, out, place, cell);
  // Later records do not say it again: many instances may have ended with much to say.
  write_optional_item(out, touched.ended ? base::ByteView(cell->outcome) : base::ByteView());
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

// The head of a list of so few is one byte, that counts them.
constexpr std::size_t kRecordFields = 8;
static_assert(kRecordFields + 1 < 24);

// That there are any shows only when the instances are written, so the head is mended then.
void append_halts(WorldState& world) {
  Buffer& out = world.record;
  ++out.data()[sizeof codec::kSelfDescribe];
  codec::write_list_head(out, world.draft.halts.size());
  for (const Halt& halt : world.draft.halts) {
    codec::write_list_head(out, 3);
    codec::write_nat(out, static_cast<std::uint64_t>(halt.kind));
    codec::write_nat(out, halt.at);
    codec::write_text(out, halt.text);
  }
}

}  // namespace

void encode_record(WorldState& world) {
  world.record.clear();
  Pen out(world.record);
  out.append(codec::kSelfDescribe);
  codec::write_list_head(out, kRecordFields);
  codec::write_nat(out, kRecordVersion);
  codec::write_nat(out, world.next_record);
  codec::write_nat(out, world.tick->time_ns);
  codec::write_bytes(out, world.tick->entropy);
  out.put_down();
  std::visit(TickWriter{world.record, world.counted.view()}, world.tick->input);
  codec::write_list_head(out, world.draft.touched_count());
  for (std::size_t i = 0; i < world.draft.touched_count(); ++i) write_touched(world, out, i);
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
  if (!world.draft.halts.empty()) [[unlikely]] {
    out.put_down();
    append_halts(world);
  }
}

}  // namespace holdfast::kernel
