// SPDX-License-Identifier: Apache-2.0
#include "steps/live_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "steps/due.h"
#include "steps/parts.h"
#include "steps/room.h"
#include "steps/run_params.h"
#include "steps/state_codec.h"
#include "steps/weight.h"

namespace holdfast::steps {
namespace {

// Below that nobody looks what of it is live.
constexpr std::size_t kShrinkBytes = std::size_t{64} << 10;

// When somebody looks the next time: not before as much has come as is there, but before it may be
// too much.
std::size_t next_look(std::size_t held) {
  return std::min(std::max(kShrinkBytes, 2 * held), kMaxLiveBytes);
}

Running* find_running(State& state, const RunStep& asked) {
  for (Running& running : state.steps[asked.step].running) {
    if (running.run == asked.run) return &running;
  }
  return nullptr;
}

// Those that were started by a world, too: they are of no use here.
std::vector<std::uint64_t> open_children(const State& state) {
  std::vector<std::uint64_t> numbers;
  for (const StepState& step : state.steps) {
    for (const Waiter& waiter : step.waiters) {
      if (waiter.is_open() && waiter.child) numbers.push_back(waiter.child->number);
    }
  }
  return numbers;
}

}  // namespace

// Names are short; what is not good in a text is shown by more bytes than it has.
std::size_t LiveRun::Weighed::at_most() const {
  std::size_t bytes = 0;
  for (const Entry& entry : held_) {
    bytes += 1024 + 128 * entry.active.size() +
             8 * (entry.failure.code.size() + entry.failure.message.size()) +
             (entry.event ? entry.event->value.size() : 0);
  }
  return bytes;
}

std::size_t LiveRun::Weighed::bytes(const Graph& graph) const {
  EntryMeter meter(graph);
  for (const Entry& entry : held_) meter.add(entry);
  meter.finish();
  return meter.bytes();
}

void LiveRun::Weighed::pass_on() {
  for (const Entry& entry : held_) entries_.add(entry);
  held_.clear();
}

LiveRun::LiveRun(const Graph& graph, EntrySink& entries)
    : graph_(graph),
      entries_(entries),
      broker_(graph.steps().size()),
      reduction_(graph, broker_.state, broker_.outbox.ending, entries_),
      shrink_at_(kShrinkBytes) {}

void LiveRun::clear() {
  broker_.state.clear();
  broker_.outbox = {};
  reduction_.clear();
  has_begun_ = is_asked_idle_ = false;
  forget_asked();
  shrink_at_ = kShrinkBytes;
}

bool LiveRun::take_event(TypeIndex type, base::ByteView value, std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  const base::ByteView kept = broker_.state.arena.keep(value);
  if (!reduction_.take_event(type, kept, !has_begun_)) {
    entries_.pass_on();
    broker_.state.arena.clear();  // there is no run, so nothing else is in it
    return false;
  }
  has_begun_ = true;
  settle();
  return true;
}

void LiveRun::take_results(std::uint64_t run, base::ByteView results, std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  reduction_.take_results(run, broker_.state.arena.keep(results));
  settle();
}

void LiveRun::take_lost(std::uint64_t run, std::string_view code, std::string_view message,
                        std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  Arena& arena = broker_.state.arena;
  reduction_.take_lost(run, arena.keep(code), arena.keep(message));
  settle();
}

void LiveRun::take_due(std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  reduction_.take_due(now_ns);
  settle();
}

void LiveRun::take_cancel(std::string_view reason, std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  reduction_.take(CancelRun{broker_.state.arena.keep(reason)});
  settle();
}

void LiveRun::take_idle(std::uint64_t now_ns) {
  reduction_.now_ns = now_ns;
  reduction_.check_idle(false, broker_.outbox.is_idle_told);
  entries_.pass_on();
  is_asked_idle_ = false;
}

// There is no world in which other workflows could run: whoever asked for one is told so.
void LiveRun::refuse_children() {
  for (const std::uint64_t number : open_children(broker_.state)) {
    if (ending()) return;
    reduction_.take(ChildEnded{
        number,
        {ChildFate::kFailed, {}, {"workflow.no_world", "no workflow is run outside of a world"}}});
  }
}

void LiveRun::settle() {
  refuse_children();
  is_asked_idle_ = reduction_.is_idle_asked();
  if (!is_idle()) broker_.outbox.is_idle_told = false;
  check_size();
  if (broker_.state.arena.size() > shrink_at_ && !ending()) shrink();
}

void LiveRun::check_size() {
  state_bytes_ = weight(broker_.state);
  const std::size_t bytes = state_bytes_ + weight(broker_.outbox);
  // Most runs are so small that nobody has to look closer.
  auto failure = too_large(bytes + entries_.at_most(), ending());
  const std::size_t all = failure ? bytes + entries_.bytes(graph_) : bytes;
  if (failure) failure = too_large(all, ending());
  if (failure) {
    if (failure->code == kStateTooLargeCode)
      failure->message = broker_.state.arena.keep(describe_size(graph_, broker_.state, all));
    entries_.drop();
    fail(*failure);
  }
  entries_.pass_on();
}

void LiveRun::fail(const Failure& failure) {
  entries_.add({.kind = EntryKind::kFailed, .failure = failure});
  State nothing(graph_.steps().size());
  nothing.arena = std::move(broker_.state.arena);  // the failure may be in it
  broker_.state = std::move(nothing);
  broker_.outbox.ending = Ending{.is_failure = true, .failure = failure, .result = {}};
}

// What is asked for is named by numbers, so it may be read back in between.
void LiveRun::shrink() {
  State& state = broker_.state;
  codec::Buffer written;
  write_state(written, state);
  Arena arena;
  auto made = read_state(arena.keep(written.view()), graph_);
  CHECK(made);  // we have written it
  state = std::move(*made);
  state.arena = std::move(arena);
  shrink_at_ = next_look(state.arena.size());
}

bool LiveRun::has_issued() const {
  for (const StepState& step : broker_.state.steps) {
    for (const Running& running : step.running) {
      if (running.is_issued) return true;
    }
  }
  return false;
}

void LiveRun::forget_asked() {
  asked_.clear();
  next_asked_ = kept_asked_ = 0;
}

// One that finds no room waits until others have come back, and those behind it with it.
std::optional<RunStep> LiveRun::next_run(base::ByteView key, codec::Buffer& params) {
  asked_.insert(asked_.end(), reduction_.asked().begin(), reduction_.asked().end());
  reduction_.forget_asked();
  const RunParams given{graph_, broker_.state, key, reduction_.now_ns};
  while (!ending() && next_asked_ < asked_.size()) {
    const RunStep asked = asked_[next_asked_++];
    Running* const running = find_running(broker_.state, asked);
    if (running == nullptr) continue;
    if (!running->is_issued) {
      const bool fits = kept_asked_ == 0 && given.weight(asked.step, *running) <=
                                                room_for_params(state_bytes_ + kBesides);
      if (!fits && kept_asked_ == 0 && !has_issued()) {
        fail(too_large_to_run(graph_, asked.step, broker_.state.arena));
        entries_.pass_on();
        break;
      }
      if (!fits) {
        asked_[kept_asked_++] = asked;
        continue;
      }
      // One that was read back was issued: it may have a result in a log already, and that is
      // judged by what it saw.
      running->is_issued = true;
      running->seen = broker_.state.last_change;
    }
    given.write(params, asked.step, *running);
    return asked;
  }
  asked_.resize(ending() ? 0 : kept_asked_);
  next_asked_ = kept_asked_ = 0;
  return std::nullopt;
}

std::optional<std::uint64_t> LiveRun::next_due_ns() const {
  if (ending()) return std::nullopt;
  return next_due(broker_.state);
}

// That somebody is to look again whether it is idle is the same as that nobody was told.
void LiveRun::write(codec::Buffer& out) const {
  Outbox outbox = broker_.outbox;
  if (is_asked_idle_) outbox.is_idle_told = false;
  write_broker(out, broker_.state, outbox);
}

bool LiveRun::read(base::ByteView bytes, std::uint64_t now_ns) {
  Arena arena;
  auto broker = read_broker(arena.keep(bytes), graph_);
  // Only a world has parts beside a state.
  if (!broker || has_parts(broker->state)) return false;
  const bool has_ended = broker->outbox.ending.has_value();
  // A start event that waits in a slot for others has made no item yet.
  const bool has_begun = broker->state.is_running || broker->state.last_item != 0 || has_ended;
  // A world does not keep in it how a run has ended.
  if (has_begun && !broker->state.is_running && !has_ended) return false;
  broker_.state = std::move(broker->state);
  broker_.state.arena = std::move(arena);
  // What it owes a world, if it comes from one, is owed to nobody here.
  broker_.outbox = {};
  broker_.outbox.is_idle_told = broker->outbox.is_idle_told;
  broker_.outbox.ending = broker->outbox.ending;
  reduction_.now_ns = now_ns;
  has_begun_ = has_begun;
  is_asked_idle_ = false;
  shrink_at_ = next_look(broker_.state.arena.size());
  forget_asked();
  refuse_children();
  entries_.pass_on();
  state_bytes_ = weight(broker_.state);
  reduction_.ask_again();
  return true;
}

}  // namespace holdfast::steps
