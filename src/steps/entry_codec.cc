// SPDX-License-Identifier: Apache-2.0
#include "steps/entry_codec.h"

#include <array>
#include <string>
#include <string_view>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/text.h"
#include "steps/room.h"

namespace holdfast::steps {
namespace {

// So that one entry stays a small part of what a record may hold.
constexpr std::size_t kMaxChanges = 512;

constexpr std::array<std::string_view, 10> kKinds{
    "event", "preparing", "running",   "not_running", "unhandled",
    "idle",  "stopped",   "cancelled", "timed_out",   "failed"};

bool is_change(EntryKind kind) {
  return kind == EntryKind::kPreparing || kind == EntryKind::kRunning ||
         kind == EntryKind::kNotRunning;
}

// Counts the bytes of what is written to it.
struct Scale {
  std::size_t bytes = 0;

  void head(std::uint64_t n) { bytes += codec::head_size(n); }
};
void write_map_head(Scale& out, std::uint64_t count) { out.head(count); }
void write_list_head(Scale& out, std::uint64_t count) { out.head(count); }
void write_nat(Scale& out, std::uint64_t n) { out.head(n); }
void write_text(Scale& out, std::string_view text) {
  out.head(text.size());
  out.bytes += text.size();
}
void write_bytes(Scale& out, base::ByteView value) {
  out.head(value.size());
  out.bytes += value.size();
}

template <class Out>
void field(Out& out, std::string_view name, std::string_view text) {
  write_text(out, name);
  write_text(out, text);
}

// Keys in canonical order: shorter first, then bytewise.
template <class Out>
void write_change(Out& out, const Graph& graph, const Change& change) {
  write_map_head(out, 4);
  write_text(out, "item");
  write_nat(out, change.item);
  write_text(out, "slot");
  write_nat(out, change.slot);
  field(out, "step", graph.step(change.step).name);
  field(out, "state", word_for(change.kind));
}

// All but what its event is comes from the entry.
template <class Out>
void write_entry(Out& out, const Graph* graph, std::string_view kind, const Entry& entry,
                 std::span<const Change> changes, std::string_view schema, base::ByteView value) {
  write_map_head(out, 10);
  field(out, "code", kernel::shown(entry.failure.code));
  field(out, "kind", kind);
  field(out, "step", entry.step ? graph->step(*entry.step).name : "");
  write_text(out, "steps");
  write_list_head(out, entry.active.size());
  for (const StepIndex step : entry.active) write_text(out, graph->step(step).name);
  write_text(out, "value");
  write_bytes(out, value);
  field(out, "schema", schema);
  write_text(out, "changes");
  write_list_head(out, changes.size());
  for (const Change& change : changes) write_change(out, *graph, change);
  field(out, "message", message_of(entry));
  write_text(out, "attempts");
  write_nat(out, entry.attempts);
  write_text(out, "elapsed_ns");
  write_nat(out, entry.elapsed_ns);
}

// One with its own event.
template <class Out>
void write_entry(Out& out, const Graph& graph, std::string_view kind, const Entry& entry,
                 std::span<const Change> changes) {
  write_entry(out, &graph, kind, entry, changes,
              entry.event ? std::string_view(graph.type(entry.event->type).schema) : "",
              entry.event ? entry.event->value : base::ByteView());
}

}  // namespace

std::string_view word_for(EntryKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string message_of(const Entry& entry) {
  return entry.is_idle ? "nothing else is under way" : kernel::shown(entry.failure.message);
}

void EntryGroups::group(const Entry& entry) {
  if (is_change(entry.kind)) {
    changes_.push_back({entry.kind, *entry.step, entry.slot, entry.item});
    if (changes_.size() == kMaxChanges) finish();
    return;
  }
  finish();
  put(word_for(entry.kind), entry, {});
}

void EntryGroups::finish() {
  if (changes_.empty()) return;
  put("steps", {}, changes_);
  changes_.clear();
}

void write_several(codec::Buffer& out, std::span<const base::ByteView> entries) {
  codec::Buffer list;
  codec::write_list_head(list, entries.size());
  for (const base::ByteView entry : entries) list.append(entry);
  write_entry(out, nullptr, kSeveral, {}, {}, defs::kStepEntry, list.view());
}

void EntryWriter::put(std::string_view kind, const Entry& entry, std::span<const Change> changes) {
  written_.clear();
  write_entry(written_, graph_, kind, entry, changes);
  out_.push_back(arena_.keep(written_.view()));
}

void EntryMeter::put(std::string_view kind, const Entry& entry, std::span<const Change> changes) {
  Scale scale;
  write_entry(scale, graph_, kind, entry, changes);
  bytes_ += weight_of_entry(scale.bytes);
}

}  // namespace holdfast::steps
