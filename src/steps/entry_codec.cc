// SPDX-License-Identifier: Apache-2.0
#include "steps/entry_codec.h"

#include <algorithm>
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

constexpr std::array<std::string_view, 12> kKinds{
    "event",   "preparing", "running",   "not_running", "unhandled",      "idle",
    "stopped", "cancelled", "timed_out", "failed",      "attempt_failed", "began_again"};

// Of changes that stand together.
constexpr std::string_view kChanges = "steps";

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

// The types that changes name: each stands once in their entry.
class TypeTable {
 public:
  explicit TypeTable(std::span<const Change> changes) {
    for (const Change& change : changes) {
      add(change.input);
      add(change.output);
    }
  }
  // From 1; 0: none.
  std::uint64_t number_of(std::optional<TypeIndex> type) const {
    if (!type) return 0;
    const auto found = std::find(types_.begin(), types_.end(), *type);
    return static_cast<std::uint64_t>(found - types_.begin()) + 1;
  }
  const std::vector<TypeIndex>& types() const noexcept { return types_; }

 private:
  void add(std::optional<TypeIndex> type) {
    if (type && std::find(types_.begin(), types_.end(), *type) == types_.end())
      types_.push_back(*type);
  }
  std::vector<TypeIndex> types_;
};

// Keys in canonical order: shorter first, then bytewise. Without a table: as in @1.
template <class Out>
void write_change(Out& out, const Graph& graph, const Change& change, const TypeTable* types) {
  write_map_head(out, types != nullptr ? 6 : 4);
  write_text(out, "item");
  write_nat(out, change.item);
  write_text(out, "slot");
  write_nat(out, change.slot);
  field(out, "step", graph.step(change.step).name);
  if (types != nullptr) {
    write_text(out, "input");
    write_nat(out, types->number_of(change.input));
  }
  field(out, "state", word_for(change.kind));
  if (types == nullptr) return;
  write_text(out, "output");
  write_nat(out, types->number_of(change.output));
}

// All but what its event is comes from the entry.
template <class Out>
void write_entry(Out& out, const Graph& graph, std::string_view kind, const Entry& entry,
                 std::span<const Change> changes, std::string_view schema, base::ByteView value) {
  const bool is_newer = graph.has(Rules::kTellsAttempts);
  const TypeTable types(is_newer ? changes : std::span<const Change>());
  write_map_head(out, is_newer ? 13 : 10);
  field(out, "code", kernel::shown(entry.failure.code));
  if (is_newer) {
    write_text(out, "item");
    write_nat(out, entry.item);
  }
  field(out, "kind", kind);
  field(out, "step", entry.step ? graph.step(*entry.step).name : "");
  write_text(out, "steps");
  write_list_head(out, entry.active.size());
  for (const StepIndex step : entry.active) write_text(out, graph.step(step).name);
  if (is_newer) {
    write_text(out, "types");
    write_list_head(out, types.types().size());
    for (const TypeIndex type : types.types()) write_text(out, graph.type(type).schema);
  }
  write_text(out, "value");
  write_bytes(out, value);
  if (is_newer) {
    write_text(out, "due_ns");
    write_nat(out, entry.due_ns);
  }
  field(out, "schema", schema);
  write_text(out, "changes");
  write_list_head(out, changes.size());
  for (const Change& change : changes)
    write_change(out, graph, change, is_newer ? &types : nullptr);
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
  write_entry(out, graph, kind, entry, changes,
              entry.event ? std::string_view(graph.type(entry.event->type).schema) : "",
              entry.event ? entry.event->value : base::ByteView());
}

}  // namespace

std::string_view entry_schema(Rules rules) {
  return rules >= Rules::kTellsAttempts ? defs::kStepEntry : defs::kStepEntry1;
}

std::string_view word_for(EntryKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::vector<std::string_view> entry_kinds() {
  std::vector<std::string_view> kinds{kChanges};
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (!is_change(static_cast<EntryKind>(i))) kinds.push_back(kKinds[i]);
  }
  return kinds;
}

std::string message_of(const Entry& entry) {
  return entry.is_idle ? "nothing else is under way" : kernel::shown(entry.failure.message);
}

void EntryGroups::group(const Entry& entry) {
  if (is_change(entry.kind)) {
    changes_.push_back(
        {entry.kind, *entry.step, entry.slot, entry.item, entry.input, entry.output});
    if (changes_.size() == kMaxChanges) finish();
    return;
  }
  finish();
  put(word_for(entry.kind), entry, {});
}

void EntryGroups::finish() {
  if (changes_.empty()) return;
  put(kChanges, {}, changes_);
  changes_.clear();
}

void write_several(codec::Buffer& out, const Graph& graph,
                   std::span<const base::ByteView> entries) {
  codec::Buffer list;
  codec::write_list_head(list, entries.size());
  for (const base::ByteView entry : entries) list.append(entry);
  write_entry(out, graph, kSeveral, {}, {}, entry_schema(graph.rules()), list.view());
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
