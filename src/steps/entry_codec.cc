// SPDX-License-Identifier: Apache-2.0
#include "steps/entry_codec.h"

#include <array>
#include <string>
#include <string_view>

#include "codec/cbor_writer.h"
#include "kernel/text.h"

namespace holdfast::steps {
namespace {

// So that one entry stays a small part of what a record may hold.
constexpr std::size_t kMaxChanges = 512;

constexpr std::array<std::string_view, 10> kKinds{
    "event", "preparing", "running",   "not_running", "unhandled",
    "idle",  "stopped",   "cancelled", "timed_out",   "failed"};

std::string_view word_for(EntryKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

bool is_change(EntryKind kind) {
  return kind == EntryKind::kPreparing || kind == EntryKind::kRunning ||
         kind == EntryKind::kNotRunning;
}

void field(codec::Buffer& out, std::string_view name, std::string_view text) {
  codec::write_text(out, name);
  codec::write_text(out, text);
}

// Keys in canonical order: shorter first, then bytewise.
void write_change(codec::Buffer& out, const Graph& graph, const Entry& change) {
  codec::write_map_head(out, 4);
  codec::write_text(out, "item");
  codec::write_nat(out, change.item);
  codec::write_text(out, "slot");
  codec::write_nat(out, change.slot);
  field(out, "step", graph.step(*change.step).name);
  field(out, "state", word_for(change.kind));
}

base::Bytes encode(const Graph& graph, std::string_view kind, const Entry& entry,
                   const std::vector<Entry>& changes) {
  codec::Buffer out;
  codec::write_map_head(out, 10);
  field(out, "code", kernel::shown(entry.failure.code));
  field(out, "kind", kind);
  field(out, "step", entry.step ? graph.step(*entry.step).name : "");
  codec::write_text(out, "steps");
  codec::write_list_head(out, entry.active.size());
  for (const StepIndex step : entry.active) codec::write_text(out, graph.step(step).name);
  codec::write_text(out, "value");
  codec::write_bytes(out, entry.event ? entry.event->value : base::ByteView());
  field(out, "schema", entry.event ? graph.type(entry.event->type).schema : "");
  codec::write_text(out, "changes");
  codec::write_list_head(out, changes.size());
  for (const Entry& change : changes) write_change(out, graph, change);
  field(out, "message",
        entry.is_idle ? "nothing else is under way" : kernel::shown(entry.failure.message));
  codec::write_text(out, "attempts");
  codec::write_nat(out, entry.attempts);
  codec::write_text(out, "elapsed_ns");
  codec::write_nat(out, entry.elapsed_ns);
  return out.to_bytes();
}

}  // namespace

void EntryWriter::add(const Entry& entry) {
  if (is_change(entry.kind)) {
    changes_.push_back(entry);
    if (changes_.size() == kMaxChanges) finish();
    return;
  }
  finish();
  out_.push_back(arena_.keep(encode(graph_, word_for(entry.kind), entry, {})));
}

void EntryWriter::finish() {
  if (changes_.empty()) return;
  out_.push_back(arena_.keep(encode(graph_, "steps", {}, changes_)));
  changes_.clear();
}

}  // namespace holdfast::steps
