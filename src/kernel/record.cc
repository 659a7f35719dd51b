// SPDX-License-Identifier: Apache-2.0
#include "kernel/record.h"

#include <algorithm>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using codec::Buffer;
using codec::View;

// In the order of the alternatives of Tick::input; the numbers are part of the format.
enum class Kind : std::uint64_t {
  kEvent = 0,
  kReceipt = 1,
  kProgress = 2,
  kContinue = 3,
  kControl = 4
};

void write_kind(Buffer& out, Kind kind, std::uint64_t fields) {
  codec::write_list_head(out, 1 + fields);
  codec::write_nat(out, static_cast<std::uint64_t>(kind));
}

struct TickWriter {
  Buffer& out;
  void operator()(const EventArrived& event) {
    write_kind(out, Kind::kEvent, 3);
    codec::write_text(out, event.schema);
    out.append(event.value);
    codec::write_text(out, event.id);
  }
  void operator()(const ReceiptArrived& receipt) {
    write_kind(out, Kind::kReceipt, 3);
    codec::write_bytes(out, receipt.intent.bytes);
    codec::write_nat(out, static_cast<std::uint64_t>(receipt.status));
    codec::write_bytes(out,
                       receipt.payload);  // as it came: whether it fits is decided again on replay
  }
  void operator()(const ProgressArrived& progress) {
    write_kind(out, Kind::kProgress, 4);
    codec::write_bytes(out, progress.intent.bytes);
    codec::write_nat(out, progress.sequence);
    codec::write_text(out, progress.kind);
    codec::write_bytes(out, progress.payload);
  }
  void operator()(const Continue&) { write_kind(out, Kind::kContinue, 0); }
  void operator()(const ControlRequested& request) {
    write_kind(out, Kind::kControl, 4);
    codec::write_nat(out, static_cast<std::uint64_t>(request.control));
    codec::write_text(out, request.workflow);
    codec::write_bytes(out, request.key);
    codec::write_text(out, request.reason);
  }
};

void write_optional_item(Buffer& out, base::ByteView item) {
  if (item.empty()) return codec::write_null(out);
  out.append(item);
}

// The hash of a state as a value that stands alone.
void write_state_hash(Buffer& out, const Cell* cell) {
  if (cell == nullptr || !cell->has_state) return codec::write_null(out);
  base::Sha256 sha;
  sha.update(codec::kSelfDescribe);
  sha.update(cell->state);
  codec::write_bytes(out, sha.finish().bytes);
}

void write_touched(Buffer& out, const Touched& touched) {
  const Cell* cell = touched.cell;
  codec::write_list_head(out, 11);
  codec::write_text(out, touched.workflow);
  codec::write_bytes(out, touched.key);
  codec::write_nat(out, touched.previous_record);
  if (cell == nullptr) {
    codec::write_text(out, "deleted");
  } else {
    codec::write_text(out, name_of(cell->status()));
  }
  codec::write_bool(out, cell != nullptr && cell->paused);
  write_state_hash(out, cell);
  write_optional_item(out, cell == nullptr ? base::ByteView() : base::ByteView(cell->outcome));
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
}

bool read_input(ListReader& list, Tick& tick) {
  switch (list.choice(Kind::kControl)) {
    case Kind::kEvent: {
      EventArrived event;
      event.schema = list.text();
      event.value = list.next().encoded();
      event.id = list.text();
      tick.input = event;
      break;
    }
    case Kind::kReceipt: {
      ReceiptArrived receipt;
      receipt.intent = list.hash();
      receipt.status = list.choice(ReceiptStatus::kCancelled);
      receipt.payload = list.bytes();
      tick.input = receipt;
      break;
    }
    case Kind::kProgress: {
      ProgressArrived progress;
      progress.intent = list.hash();
      progress.sequence = list.nat();
      progress.kind = list.text();
      progress.payload = list.bytes();
      tick.input = progress;
      break;
    }
    case Kind::kContinue: tick.input = Continue{}; break;
    case Kind::kControl: {
      ControlRequested request;
      request.control = list.choice(Control::kResume);
      request.workflow = list.text();
      request.key = list.bytes();
      request.reason = list.text();
      tick.input = request;
      break;
    }
  }
  return list.good();
}

}  // namespace

base::Bytes encode_record(WorldState& world) {
  Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 7);
  codec::write_nat(out, kRecordVersion);
  codec::write_nat(out, world.next_record);
  codec::write_nat(out, world.tick->time_ns);
  codec::write_bytes(out, world.tick->entropy);
  std::visit(TickWriter{out}, world.tick->input);
  codec::write_list_head(out, world.draft.touched.size());
  for (const Touched& touched : world.draft.touched) write_touched(out, touched);
  codec::write_list_head(out, world.draft.emitted.size());
  for (const Emitted& emitted : world.draft.emitted) {
    codec::write_list_head(out, 2);
    codec::write_text(out, emitted.schema);
    out.append(emitted.value);
  }
  return out.to_bytes();
}

base::Result<Tick> tick_of(base::ByteView record) {
  ListReader list(View::of(record));
  if (list.nat() != kRecordVersion)
    return base::Error(base::ErrorCode::kCorrupt, "a record of another version");
  const std::uint64_t number = list.nat();
  Tick tick;
  tick.time_ns = list.nat();
  const base::ByteView entropy = list.bytes();
  ListReader input(list.next());
  if (!list.good() || entropy.size() != tick.entropy.size() || !read_input(input, tick)) {
    return base::Error(base::ErrorCode::kCorrupt,
                       "record " + std::to_string(number) + " is not well formed");
  }
  std::copy(entropy.begin(), entropy.end(), tick.entropy.begin());
  return tick;
}

}  // namespace holdfast::kernel
