// SPDX-License-Identifier: Apache-2.0
#include "steps/readable.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "steps/broker.h"
#include "steps/entry_codec.h"

namespace holdfast::steps {
namespace {

using codec::View;

// The members of a map, however many come.
class Members {
 public:
  codec::Buffer& value(std::string_view name) {
    ++count_;
    codec::write_text(body_, name);
    return body_;
  }
  void text(std::string_view name, std::string_view text) { codec::write_text(value(name), text); }
  void number(std::string_view name, std::uint64_t number) {
    codec::write_nat(value(name), number);
  }
  // Only what says something.
  void number_if(std::string_view name, std::uint64_t number) {
    if (number != 0) this->number(name, number);
  }
  void text_if(std::string_view name, std::string_view text) {
    if (!text.empty()) this->text(name, text);
  }
  void flag_if(std::string_view name, bool flag) {
    if (flag) codec::write_bool(value(name), true);
  }
  // Bytes that are a value: the value.
  void embedded(std::string_view name, base::ByteView bytes) {
    codec::Normaliser normaliser;
    const auto item = normaliser.part_from_cbor(codec::Schema::item(), bytes);
    if (item) return value(name).append(*item);
    codec::write_bytes(value(name), bytes);
  }
  void write(codec::Buffer& out) const {
    codec::write_map_head(out, count_);
    out.append(body_.view());
  }

 private:
  std::uint64_t count_ = 0;
  codec::Buffer body_;
};

class ReadableStateWriter {
 public:
  ReadableStateWriter(const Graph& graph, const Broker& broker) : graph_(graph), broker_(broker) {}

  void write(codec::Buffer& out, std::string_view status) {
    const State& state = broker_.state;
    Members all;
    all.text("status", status);
    all.number_if("deadline_ns", state.deadline_ns);
    write_list(all.value("steps"), graph_.steps().size(),
               [&](codec::Buffer& to, std::size_t step) { return write_step(to, step); });
    if (!state.streams.empty()) {
      write_list(all.value("fan_outs"), state.streams.size(),
                 [&](codec::Buffer& to, std::size_t i) { return write(to, state.streams[i]); });
    }
    if (!state.early.empty()) {
      write_list(all.value("early"), state.early.size(),
                 [&](codec::Buffer& to, std::size_t i) { return write(to, state.early[i].event); });
    }
    if (!state.failures.empty()) {
      write_list(all.value("failures"), state.failures.size(),
                 [&](codec::Buffer& to, std::size_t i) { return write(to, state.failures[i]); });
    }
    Members store;
    for (const StoreEntry& entry : state.store)
      if (!entry.value.empty()) store.embedded(entry.key, entry.value);
    store.write(all.value("store"));
    all.number_if("entries_waiting", broker_.outbox.entries.size());
    write_ending(all);
    all.write(out);
  }

 private:
  // Those that have something to show: `write_one` says whether it has written one.
  template <class WriteOne>
  static void write_list(codec::Buffer& out, std::size_t count, WriteOne write_one) {
    codec::Buffer body;
    std::uint64_t written = 0;
    for (std::size_t i = 0; i < count; ++i) written += write_one(body, i) ? 1U : 0U;
    codec::write_list_head(out, written);
    out.append(body.view());
  }

  void add(Members& to, const Event& event) const {
    to.text("schema", graph_.type(event.type).schema);
    to.flag_if("list", event.is_list);
    to.embedded("value", event.value);
  }

  void add(Members& to, const Attempt& attempt) const {
    to.number_if("item", attempt.item);
    add(to, attempt.event);
    to.number_if("failures", attempt.failures);
    to.number_if("first_ns", attempt.first_ns);
    to.number_if("not_before_ns", attempt.not_before_ns);
    if (attempt.last) {
      Members last;
      last.text("code", attempt.last->code);
      last.text("message", attempt.last->message);
      last.write(to.value("last_error"));
    }
    to.number_if("fan_out", attempt.stream);
  }

  bool write_step(codec::Buffer& out, std::size_t index) const {
    const StepState& step = broker_.state.steps[index];
    if (step.queue.empty() && step.running.empty() && step.buffers.empty() &&
        step.waiters.empty() && step.held.empty())
      return false;
    Members all;
    all.text("step", graph_.step(static_cast<StepIndex>(index)).name);
    const auto write_all = [&](std::string_view name, const auto& list) {
      if (list.empty()) return;
      write_list(all.value(name), list.size(),
                 [&](codec::Buffer& to, std::size_t i) { return write(to, list[i]); });
    };
    write_all("queue", step.queue);
    write_all("running", step.running);
    write_all("buffers", step.buffers);
    write_all("waiting", step.waiters);
    write_all("held", step.held);
    all.write(out);
    return true;
  }

  bool write(codec::Buffer& out, const Event& event) const {
    Members all;
    add(all, event);
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Attempt& attempt) const {
    Members all;
    add(all, attempt);
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Running& running) const {
    Members all;
    add(all, running.attempt);
    all.number("slot", running.slot);
    all.number("run", running.run);
    all.flag_if("not_asked_for", !running.is_issued);
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Buffer& buffer) const {
    if (buffer.events.empty()) return false;
    Members all;
    all.text("buffer", buffer.name);
    write_list(all.value("events"), buffer.events.size(),
               [&](codec::Buffer& to, std::size_t i) { return write(to, buffer.events[i]); });
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Waiter& waiter) const {
    Members all;
    all.text("id", waiter.id);
    if (waiter.child) {
      write(all.value("child"), *waiter.child);
    } else {
      all.text("for", graph_.type(waiter.type).schema);
      Members requirements;
      for (const Requirement& requirement : waiter.requirements)
        requirements.embedded(requirement.field, requirement.value);
      requirements.write(all.value("requirements"));
    }
    all.number_if("deadline_ns", waiter.deadline_ns);
    all.flag_if("timed_out", waiter.is_timed_out);
    if (waiter.resolved) write(all.value("answer"), *waiter.resolved);
    write(all.value("since"), waiter.trigger);
    all.write(out);
    return true;
  }
  static void write(codec::Buffer& out, const Child& child) {
    Members all;
    all.text("workflow", child.workflow);
    if (!child.key.empty()) all.embedded("key", child.key);
    all.flag_if("not_asked_for", !child.is_issued);
    if (child.end && child.end->fate == ChildFate::kCompleted)
      all.embedded("result", child.end->result);
    if (child.end && child.end->fate != ChildFate::kCompleted) {
      all.flag_if("cancelled", child.end->fate == ChildFate::kCancelled);
      all.text("code", child.end->failure.code);
      all.text("message", child.end->failure.message);
    }
    all.write(out);
  }
  bool write(codec::Buffer& out, const PastFailure& past) const {
    Members all;
    all.text("step", graph_.step(past.step).name);
    all.number("item", past.item);
    all.number("attempt", past.attempt);
    all.number("at_ns", past.at_ns);
    all.text("code", past.failure.code);
    all.text("message", past.failure.message);
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Held& held) const {
    Members all;
    add(all, held.event);
    all.number_if("fan_out", held.stream);
    all.write(out);
    return true;
  }
  bool write(codec::Buffer& out, const Stream& stream) const {
    Members all;
    all.number("fan_out", stream.id);
    all.number_if("parent", stream.parent);
    all.number("open", stream.open);
    write_list(all.value("joins"), stream.joins.size(), [&](codec::Buffer& to, std::size_t i) {
      const JoinState& join = stream.joins[i];
      Members one;
      one.text("step", graph_.step(join.step).name);
      one.flag_if("fired", join.has_fired);
      one.number("members", join.members.size());
      one.write(to);
      return true;
    });
    all.write(out);
    return true;
  }

  void write_ending(Members& all) const {
    if (!broker_.outbox.ending) return;
    const Ending& ending = *broker_.outbox.ending;
    Members parts;
    if (ending.is_failure) {
      parts.text("code", ending.failure.code);
      parts.text("message", ending.failure.message);
    } else {
      parts.embedded("result", ending.result);
    }
    parts.write(all.value("ending"));
  }

  const Graph& graph_;
  const Broker& broker_;
};

bool is_wanted(View entry, const EntryKinds& wanted) {
  if (wanted.empty()) return true;
  const auto kind = entry.find("kind");
  return kind && std::ranges::find(wanted, kind->text().value_or("")) != wanted.end();
}

// Of an entry that stands for several: all of them, whatever is in it.
enum class Whole : std::uint8_t { kEntry, kOneOfSeveral };
void write_entry(codec::Buffer& out, View view, Whole whole, const EntryKinds& wanted);

// Types that stand in a table of the entry, by their names.
void write_changes(codec::Buffer& out, View changes, View types) {
  std::vector<std::string_view> names;
  for (const View name : types.elements()) names.push_back(name.text().value_or(""));
  codec::write_list_head(out, changes.size());
  for (const View change : changes.elements()) {
    Members all;
    for (const std::string_view name : {"item", "slot", "step", "state"}) {
      if (const auto member = change.find(name)) all.value(name).append(member->encoded());
    }
    for (const std::string_view name : {"input", "output"}) {
      const auto member = change.find(name);
      const std::uint64_t number = member ? member->nat().value_or(0) : 0;
      if (number != 0 && number <= names.size()) all.text(name, names[number - 1]);
    }
    all.write(out);
  }
}

void write_entries(codec::Buffer& out, base::ByteView bytes, const EntryKinds& wanted) {
  codec::Normaliser normaliser;
  const auto list = normaliser.part_from_cbor(codec::Schema::item(), bytes);
  if (!list) return codec::write_bytes(out, bytes);
  std::vector<View> entries;
  for (const View one : View::of(*list).elements()) {
    if (is_wanted(one, wanted)) entries.push_back(one);
  }
  codec::write_list_head(out, entries.size());
  for (const View one : entries) write_entry(out, one, Whole::kOneOfSeveral, {});
}

// Whether one of those that an entry stands for is wanted.
bool is_one_wanted(View entry, const EntryKinds& wanted) {
  const auto value = entry.find("value");
  const auto bytes = value ? value->bytes() : std::nullopt;
  codec::Normaliser normaliser;
  const auto list =
      normaliser.part_from_cbor(codec::Schema::item(), bytes.value_or(base::ByteView()));
  if (!list || View::of(*list).kind() != codec::ViewKind::kList) return true;
  for (const View one : View::of(*list).elements()) {
    if (is_wanted(one, wanted)) return true;
  }
  return false;
}

// One that stands for several holds none of these itself.
void write_entry(codec::Buffer& out, View view, Whole whole, const EntryKinds& wanted) {
  const auto text = [&](std::string_view name) {
    const auto member = view.find(name);
    return member ? member->text().value_or("") : std::string_view();
  };
  const auto number = [&](std::string_view name) {
    const auto member = view.find(name);
    return member ? member->nat().value_or(0) : 0;
  };
  const bool is_several = whole == Whole::kEntry && text("kind") == kSeveral;
  Members all;
  all.text("kind", text("kind"));
  all.text_if("step", text("step"));
  all.number_if("item", number("item"));
  if (!is_several) all.text_if("schema", text("schema"));
  const auto value = view.find("value");
  const base::ByteView bytes = value ? value->bytes().value_or(base::ByteView()) : base::ByteView();
  if (is_several) {
    write_entries(all.value("entries"), bytes, wanted);
  } else if (!bytes.empty()) {
    all.embedded("value", bytes);
  }
  all.text_if("code", text("code"));
  all.text_if("message", text("message"));
  all.number_if("attempts", number("attempts"));
  all.number_if("elapsed_ns", number("elapsed_ns"));
  all.number_if("due_ns", number("due_ns"));
  const auto steps = view.find("steps");
  if (steps && steps->size() != 0) all.value("steps").append(steps->encoded());
  const auto changes = view.find("changes");
  const auto types = view.find("types");
  if (changes && changes->size() != 0) {
    if (types) write_changes(all.value("changes"), *changes, *types);
    if (!types) all.value("changes").append(changes->encoded());
  }
  all.write(out);
}

}  // namespace

bool write_readable_state(codec::Buffer& out, const Graph& graph, base::ByteView state) {
  if (state.empty()) return false;
  const auto status = View::of(state).find("status");
  const auto broker = broker_in(state, graph);
  if (!status || !broker) return false;
  ReadableStateWriter(graph, *broker).write(out, status->text().value_or(""));
  return true;
}

void write_readable_entry(codec::Buffer& out, base::ByteView entry) {
  write_entry(out, View::of(entry), Whole::kEntry, {});
}

EntryKinds split_kinds(std::string_view list) {
  EntryKinds kinds;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma != 0) kinds.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return kinds;
}

std::optional<std::string> refuse_kind_list(std::string_view list) {
  const bool has_gap = list.empty() || list.front() == ',' || list.back() == ',' ||
                       list.find(",,") != std::string_view::npos;
  if (!has_gap) return std::nullopt;
  return "a kind of entries has no name in '" + std::string(list) +
         "'; expected one or more, with commas between them";
}

std::optional<std::string> refuse_kinds(const EntryKinds& kinds) {
  const std::vector<std::string_view> known = entry_kinds();
  for (const std::string& kind : kinds) {
    if (std::ranges::find(known, kind) != known.end()) continue;
    std::string why = "no entry is of the kind '" + kind + "'; kinds are";
    for (const std::string_view each : known)
      why.append(each == known.front() ? " " : ", ").append(each);
    return why;
  }
  return std::nullopt;
}

bool write_readable_entry(codec::Buffer& out, base::ByteView entry, const EntryKinds& wanted) {
  const View view = View::of(entry);
  const auto kind = view.find("kind");
  const bool is_several = kind && kind->text() == kSeveral;
  if (!wanted.empty() && !(is_several ? is_one_wanted(view, wanted) : is_wanted(view, wanted)))
    return false;
  write_entry(out, view, Whole::kEntry, wanted);
  return true;
}

bool is_newest_entry(base::ByteView entry) {
  constexpr std::string_view kMembers[] = {"code",    "item",     "kind",      "step",   "steps",
                                           "types",   "value",    "due_ns",    "schema", "changes",
                                           "message", "attempts", "elapsed_ns"};
  const View view = View::of(entry);
  if (view.kind() != codec::ViewKind::kMap || view.size() != std::size(kMembers)) return false;
  for (const std::string_view name : kMembers) {
    if (!view.find(name)) return false;
  }
  return view.find("value")->bytes().has_value() &&
         view.find("types")->kind() == codec::ViewKind::kList &&
         view.find("changes")->kind() == codec::ViewKind::kList;
}

bool is_shown(base::ByteView entry, const EntryKinds& wanted) {
  const View view = View::of(entry);
  if (wanted.empty() || view.kind() != codec::ViewKind::kMap) return true;
  const auto kind = view.find("kind");
  return !kind || !kind->text() || is_wanted(view, wanted);
}

}  // namespace holdfast::steps
