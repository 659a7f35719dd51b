// SPDX-License-Identifier: Apache-2.0
#include "steps/state_codec.h"

#include <algorithm>

#include "codec/pen.h"
#include "steps/parts.h"
#include "steps/scanner.h"

namespace holdfast::steps {
namespace {

// In 2 steps have slots. A state with nothing in one is written as it was before there were any:
// what replays a journal of that time must come to the same bytes.
constexpr std::uint64_t kWithoutSlots = 1;
constexpr std::uint64_t kWithSlots = 2;
// In 3 something stands beside the state.
constexpr std::uint64_t kWithParts = 3;
// One more: what came early, if something has. Two more: attempts that failed, too.
constexpr std::size_t kStateParts = 10;
constexpr std::size_t kReserved = 1024;  // what bytes may claim before they show it

// What a part may claim: more than any has, and so little that sums of them fit.
constexpr std::uint64_t kMostInPart = 1 << 20;
constexpr std::uint64_t kMostPartWeight = 1 << 30;

class StateWriter {
 public:
  explicit StateWriter(codec::Buffer& out) : out_(out) {}

  void write(const State& state) {
    has_slots_ = std::any_of(state.steps.begin(), state.steps.end(),
                             [](const StepState& step) { return !step.held.empty(); });
    has_parts_ = has_parts(state);
    const bool has_failures = !state.failures.empty();
    codec::write_list_head(out_, kStateParts + (has_failures ? 2 : state.early.empty() ? 0 : 1));
    codec::write_nat(out_, has_parts_ ? kWithParts : has_slots_ ? kWithSlots : kWithoutSlots);
    codec::write_bool(out_, state.is_running);
    codec::write_nat(out_, state.deadline_ns);
    codec::write_nat(out_, state.last_item);
    codec::write_nat(out_, state.last_run);
    codec::write_nat(out_, state.last_stream);
    codec::write_nat(out_, state.last_change);
    write_all(state.steps);
    write_all(state.streams);
    write_all(state.store);
    if (has_failures || !state.early.empty()) write_all(state.early);
    if (has_failures) write_all(state.failures);
  }

  template <class T>
  void write_list(std::span<const T> all) {
    codec::write_list_head(out_, all.size());
    for (const T& one : all) write(one);
  }

 private:
  void write(const Part& part) {
    codec::write_list_head(out_, 3);
    codec::write_bytes(out_, part.hash.bytes);
    codec::write_nat(out_, part.count);
    codec::write_nat(out_, part.weight);
  }

  void write(const Event& event) {
    codec::write_list_head(out_, 3);
    codec::write_nat(out_, event.type);
    codec::write_bool(out_, event.is_list);
    codec::write_bytes(out_, event.value);
  }

  void write(const std::vector<Event>& events) {
    codec::write_list_head(out_, events.size());
    for (const Event& event : events) write(event);
  }

  void write(const Lineage& lineage) {
    codec::write_list_head(out_, lineage.size());
    for (const Recovery& recovery : lineage) {
      codec::write_list_head(out_, 2);
      codec::write_nat(out_, recovery.handler);
      codec::write_nat(out_, recovery.count);
    }
  }

  void write(const Attempt& attempt) {
    codec::write_list_head(out_, (attempt.last ? 9U : 7U) + (attempt.has_published ? 1U : 0U));
    write(attempt.event);
    codec::write_nat(out_, attempt.item);
    codec::write_nat(out_, attempt.stream);
    codec::write_nat(out_, attempt.failures);
    codec::write_nat(out_, attempt.first_ns);
    codec::write_nat(out_, attempt.not_before_ns);
    write(attempt.lineage);
    if (attempt.last) {
      codec::write_text(out_, attempt.last->code);
      codec::write_text(out_, attempt.last->message);
    }
    if (attempt.has_published) codec::write_bool(out_, true);
  }

  void write(const Running& running) {
    codec::write_list_head(out_, 6);
    write(running.attempt);
    codec::write_nat(out_, running.slot);
    codec::write_nat(out_, running.run);
    codec::write_nat(out_, running.seen);
    codec::write_bool(out_, running.is_issued);
    codec::write_list_head(out_, running.unjudged ? 2 : 0);
    if (!running.unjudged) return;
    codec::write_text(out_, running.unjudged->code);
    codec::write_text(out_, running.unjudged->message);
  }

  void write(const Buffer& buffer) {
    codec::write_list_head(out_, 3);
    codec::write_text(out_, buffer.name);
    codec::write_nat(out_, buffer.changed);
    write(buffer.events);
  }

  void write(const Child& child) {
    codec::write_list_head(out_, 7);
    codec::write_nat(out_, child.number);
    codec::write_text(out_, child.workflow);
    codec::write_bytes(out_, child.key);
    codec::write_text(out_, child.schema);
    codec::write_bytes(out_, child.value);
    codec::write_bool(out_, child.is_issued);
    codec::write_list_head(out_, child.end ? 4 : 0);
    if (!child.end) return;
    codec::write_nat(out_, static_cast<std::uint64_t>(child.end->fate));
    codec::write_bytes(out_, child.end->result);
    codec::write_text(out_, child.end->failure.code);
    codec::write_text(out_, child.end->failure.message);
  }

  void write(const Waiter& waiter) {
    codec::write_list_head(out_, waiter.child ? 9 : 8);
    codec::write_text(out_, waiter.id);
    codec::write_nat(out_, waiter.type);
    codec::write_list_head(out_, waiter.requirements.size());
    for (const Requirement& requirement : waiter.requirements) {
      codec::write_list_head(out_, 2);
      codec::write_text(out_, requirement.field);
      codec::write_bytes(out_, requirement.value);
    }
    write(waiter.trigger);
    codec::write_nat(out_, waiter.let_out);
    codec::write_nat(out_, waiter.deadline_ns);
    codec::write_bool(out_, waiter.is_timed_out);
    codec::write_list_head(out_, waiter.resolved ? 1 : 0);
    if (waiter.resolved) write(*waiter.resolved);
    if (waiter.child) write(*waiter.child);
  }

  template <class T>
  void write_all(const std::vector<T>& all) {
    codec::write_list_head(out_, all.size());
    for (const T& one : all) write(one);
  }

  void write(const Held& held) {
    codec::write_list_head(out_, 3);
    write(held.event);
    codec::write_nat(out_, held.stream);
    write(held.lineage);
  }

  void write(const PastFailure& past) {
    codec::write_list_head(out_, 6);
    codec::write_nat(out_, past.step);
    codec::write_nat(out_, past.item);
    codec::write_nat(out_, past.attempt);
    codec::write_nat(out_, past.at_ns);
    codec::write_text(out_, past.failure.code);
    codec::write_text(out_, past.failure.message);
  }

  void write(const Early& early) {
    codec::write_list_head(out_, early.target ? 2 : 1);
    write(early.event);
    if (early.target) codec::write_nat(out_, *early.target);
  }

  void write(const StepState& step) {
    codec::write_list_head(out_, has_parts_ ? 7 : has_slots_ ? 5 : 4);
    write_all(step.queue);
    write_all(step.running);
    write_all(step.buffers);
    write_all(step.waiters);
    if (has_slots_ || has_parts_) write_all(step.held);
    if (!has_parts_) return;
    write_all(step.later);
    write_all(step.last);
  }

  void write(const JoinState& join) {
    codec::write_list_head(out_, has_parts_ ? 5 : 4);
    codec::write_nat(out_, join.step);
    codec::write_bool(out_, join.has_fired);
    write(join.members);
    write(join.lineage);
    if (has_parts_) write_all(join.earlier);
  }

  void write(const Stream& stream) {
    codec::write_list_head(out_, 5);
    codec::write_nat(out_, stream.id);
    codec::write_nat(out_, stream.parent);
    codec::write_nat(out_, stream.open);
    write(stream.lineage);
    write_all(stream.joins);
  }

  void write(const StoreEntry& entry) {
    codec::write_list_head(out_, 3);
    codec::write_text(out_, entry.key);
    codec::write_nat(out_, entry.changed);
    codec::write_bytes(out_, entry.value);
  }

  codec::Pen out_;
  bool has_slots_ = false;
  bool has_parts_ = false;
};

class StateReader {
 public:
  StateReader(base::ByteView bytes, const Graph& graph) : in_(bytes), graph_(graph) {}

  bool read(State& state) {
    const std::size_t parts = in_.list();
    in_.require(parts >= kStateParts && parts <= kStateParts + 2);
    const std::uint64_t version = in_.nat();
    in_.require(version >= kWithoutSlots && version <= kWithParts);
    has_slots_ = version >= kWithSlots;
    has_parts_ = version == kWithParts;
    state.is_running = in_.boolean();
    state.deadline_ns = in_.nat();
    state.last_item = in_.nat();
    state.last_run = in_.nat();
    state.last_stream = in_.nat();
    state.last_change = in_.nat();
    in_.list(state.steps.size());
    for (StepIndex step = 0; step < state.steps.size(); ++step) {
      read(state.steps[step]);
      for (const Held& held : state.steps[step].held) require_slot(step, held.event);
    }
    read_all(state.streams);
    read_all(state.store);
    if (parts > kStateParts) read_all(state.early);
    if (parts == kStateParts + 1) in_.require(!state.early.empty());
    if (parts == kStateParts + 2) {
      read_all(state.failures);
      in_.require(!state.failures.empty() && state.failures.size() <= kMaxPastFailures);
    }
    ascend(state.streams, &Stream::id);
    ascend(state.store, &StoreEntry::key);
    in_.require(has_parts_ == has_parts(state));
    return in_.done();
  }

  template <class T>
  bool read_list(std::vector<T>& all) {
    read_all(all);
    return in_.done();
  }

 private:
  template <class T>
  void read_all(std::vector<T>& all) {
    std::size_t count = in_.list();
    all.reserve(std::min(count, kReserved));
    for (; count != 0 && in_.good(); --count) read(all.emplace_back());
  }
  // What is looked up by halves stands in order, each once.
  template <class T, class Field>
  void ascend(const std::vector<T>& all, Field T::*field) {
    for (std::size_t i = 1; i < all.size(); ++i) in_.require(all[i - 1].*field < all[i].*field);
  }
  TypeIndex type() {
    const std::uint32_t type = in_.nat32();
    in_.require(type < graph_.types().size());
    return type;
  }
  StepIndex step() {
    const std::uint32_t step = in_.nat32();
    in_.require(step < graph_.steps().size());
    return step;
  }

  void read(Part& part) {
    in_.list(3);
    const base::ByteView hash = in_.bytes();
    in_.require(hash.size() == part.hash.bytes.size());
    if (in_.good()) std::copy(hash.begin(), hash.end(), part.hash.bytes.begin());
    part.count = in_.nat();
    part.weight = in_.nat();
    in_.require(part.count != 0 && part.count <= kMostInPart && part.weight <= kMostPartWeight);
  }
  void read(Event& event) {
    in_.list(3);
    event.type = type();
    event.is_list = in_.boolean();
    event.value = in_.bytes();
  }
  void read(Recovery& recovery) {
    in_.list(2);
    recovery.handler = step();
    recovery.count = in_.nat32();
  }
  void read(Attempt& attempt) {
    const std::size_t parts = in_.list();
    in_.require(parts >= 7 && parts <= 10);
    read(attempt.event);
    attempt.item = in_.nat();
    attempt.stream = in_.nat();
    attempt.failures = in_.nat32();
    attempt.first_ns = in_.nat();
    attempt.not_before_ns = in_.nat();
    read_all(attempt.lineage);
    if (parts >= 9) {
      Failure& last = attempt.last.emplace();
      last.code = in_.text();
      last.message = in_.text();
    }
    if (parts % 2 != 0) return;
    attempt.has_published = in_.boolean();
    in_.require(attempt.has_published);
  }
  void read(Running& running) {
    in_.list(6);
    read(running.attempt);
    running.slot = in_.nat32();
    running.run = in_.nat();
    running.seen = in_.nat();
    running.is_issued = in_.boolean();
    const std::size_t parts = in_.list();
    in_.require(parts == 0 || parts == 2);
    if (parts == 0) return;
    Failure& failure = running.unjudged.emplace();
    failure.code = in_.text();
    failure.message = in_.text();
  }
  void read(Buffer& buffer) {
    in_.list(3);
    buffer.name = in_.text();
    buffer.changed = in_.nat();
    read_all(buffer.events);
  }
  void read(Requirement& requirement) {
    in_.list(2);
    requirement.field = in_.text();
    requirement.value = in_.bytes();
  }
  void read(Child& child) {
    in_.list(7);
    child.number = in_.nat();
    child.workflow = in_.text();
    child.key = in_.bytes();
    child.schema = in_.text();
    child.value = in_.bytes();
    child.is_issued = in_.boolean();
    const std::size_t parts = in_.list();
    in_.require(parts == 0 || parts == 4);
    if (parts != 4) return;
    ChildEnd& end = child.end.emplace();
    end.fate = in_.choice(ChildFate::kCancelled);
    end.result = in_.bytes();
    end.failure.code = in_.text();
    end.failure.message = in_.text();
  }
  void read(Waiter& waiter) {
    const std::size_t fields = in_.list();
    in_.require(fields == 8 || fields == 9);
    waiter.id = in_.text();
    waiter.type = type();
    read_all(waiter.requirements);
    read(waiter.trigger);
    waiter.let_out = in_.nat();
    waiter.deadline_ns = in_.nat();
    waiter.is_timed_out = in_.boolean();
    const std::size_t answers = in_.list();
    in_.require(answers <= 1);
    if (answers == 1) read(waiter.resolved.emplace());
    if (fields == 9) read(waiter.child.emplace());
    in_.require(waiter.is_open() || waiter.deadline_ns == 0);
  }
  void read(Held& held) {
    in_.list(3);
    read(held.event);
    held.stream = in_.nat();
    read_all(held.lineage);
  }
  void read(PastFailure& past) {
    in_.list(6);
    past.step = step();
    past.item = in_.nat();
    past.attempt = in_.nat();
    past.at_ns = in_.nat();
    past.failure.code = in_.text();
    past.failure.message = in_.text();
  }
  void read(Early& early) {
    const std::size_t parts = in_.list();
    in_.require(parts == 1 || parts == 2);
    read(early.event);
    in_.require(!early.event.is_list);  // only a fan-in makes lists, and gives them to its step
    if (parts == 2) early.target = step();
  }
  void require_slot(StepIndex step, const Event& event) {
    const std::vector<TypeIndex>& slots = graph_.step(step).slots;
    in_.require(!event.is_list && std::find(slots.begin(), slots.end(), event.type) != slots.end());
  }
  void read(StepState& step) {
    in_.list(has_parts_ ? 7 : has_slots_ ? 5 : 4);
    read_all(step.queue);
    read_all(step.running);
    read_all(step.buffers);
    read_all(step.waiters);
    if (has_slots_) read_all(step.held);
    if (has_parts_) {
      read_all(step.later);
      read_all(step.last);
      in_.require(!step.later.empty() || step.last.empty());
    }
    ascend(step.running, &Running::slot);
    ascend(step.buffers, &Buffer::name);
  }
  void read(JoinState& join) {
    in_.list(has_parts_ ? 5 : 4);
    join.step = step();
    in_.require(join.step < graph_.steps().size() && graph_.step(join.step).join.has_value());
    join.has_fired = in_.boolean();
    read_all(join.members);
    read_all(join.lineage);
    if (has_parts_) read_all(join.earlier);
  }
  void read(Stream& stream) {
    in_.list(5);
    stream.id = in_.nat();
    stream.parent = in_.nat();
    stream.open = in_.nat();
    read_all(stream.lineage);
    read_all(stream.joins);
    in_.require(stream.parent < stream.id && stream.open != 0);
  }
  void read(StoreEntry& entry) {
    in_.list(3);
    entry.key = in_.text();
    entry.changed = in_.nat();
    entry.value = in_.bytes();
  }

  Scanner in_;
  const Graph& graph_;
  bool has_slots_ = false;
  bool has_parts_ = false;
};

}  // namespace

void write_list(codec::Buffer& out, std::span<const Attempt> attempts) {
  StateWriter(out).write_list(attempts);
}
void write_list(codec::Buffer& out, std::span<const Event> events) {
  StateWriter(out).write_list(events);
}

bool read_list(base::ByteView bytes, const Graph& graph, std::vector<Attempt>& attempts) {
  return StateReader(bytes, graph).read_list(attempts);
}
bool read_list(base::ByteView bytes, const Graph& graph, std::vector<Event>& events) {
  return StateReader(bytes, graph).read_list(events);
}

void write_state(codec::Buffer& out, const State& state) { StateWriter(out).write(state); }

std::optional<State> read_state(base::ByteView bytes, const Graph& graph) {
  std::optional<State> state(std::in_place, graph.steps().size());
  if (!StateReader(bytes, graph).read(*state)) state.reset();
  return state;
}

}  // namespace holdfast::steps
