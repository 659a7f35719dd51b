// SPDX-License-Identifier: Apache-2.0
#include "steps/parts.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "steps/state_codec.h"
#include "steps/weight.h"

namespace holdfast::steps {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

// What the part has, or nothing where it cannot be read: the kernel knows, and keeps nothing.
template <class T>
void read_part(const Graph& graph, State& state, const Part& part, std::vector<T>& into) {
  const auto bytes = state.parts == nullptr ? std::nullopt : state.parts->read(part.hash);
  if (!bytes) return;
  std::vector<T> read;
  if (read_list(*bytes, graph, read)) append(into, read);
}

template <class T>
Part write_part(std::span<const T> all, kernel::StepOutput& output) {
  Part part{.hash = {}, .count = all.size()};
  for (const T& one : all) part.weight += weight(one);
  output.begin_part();
  write_list(output.bytes(), all);
  part.hash = output.end_part();
  return part;
}

bool is_delayed(const Attempt& attempt) { return attempt.not_before_ns != 0; }
bool is_delayed(const Event&) { return false; }

template <class T>
bool has_delayed(std::span<const T> all) {
  return std::ranges::any_of(all, [](const T& one) { return is_delayed(one); });
}

// Makes parts of this size of these, from `from` on, as long as `left` would stay behind them.
// Gives where the rest begins.
template <class T>
std::size_t cut(const std::vector<T>& all, std::size_t from, std::size_t size, std::size_t left,
                std::vector<Part>& parts, kernel::StepOutput& output) {
  for (; all.size() - from >= size + left; from += size) {
    const std::span<const T> next = std::span(all).subspan(from, size);
    if (has_delayed(next)) break;
    parts.push_back(write_part(next, output));
  }
  return from;
}

template <class T>
void erase_first(std::vector<T>& all, std::size_t count) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
}

// Keeps these parts; the last become a large one when enough of them are small.
template <class T>
void keep(const Graph& graph, State& state, std::vector<Part>& parts, kernel::StepOutput& output) {
  constexpr std::size_t kMerged = kPerLargePart / kPerPart;
  std::size_t small = 0;
  while (small < kMerged && small < parts.size() &&
         parts[parts.size() - 1 - small].count == kPerPart)
    ++small;
  const std::size_t kept = parts.size() - (small == kMerged ? kMerged : 0);
  for (std::size_t i = 0; i < kept; ++i) output.keep_part(parts[i].hash);
  if (kept == parts.size()) return;
  std::vector<T> all;
  for (std::size_t i = kept; i < parts.size(); ++i) read_part(graph, state, parts[i], all);
  parts.resize(kept);
  parts.push_back(write_part(std::span<const T>(all), output));
}

// What is tried again stands at the front, and may be delayed.
std::size_t behind_delayed(const std::vector<Attempt>& queue) {
  std::size_t at = queue.size();
  while (at != 0 && !is_delayed(queue[at - 1])) --at;
  return at;
}

// A part that was large has just come into the queue: small ones of it stand before the others.
void put_front_away(StepState& step, kernel::StepOutput& output) {
  const std::size_t count = step.queue.size() / kPerPart - 1;
  const std::size_t from = step.queue.size() - count * kPerPart;
  if (has_delayed(std::span<const Attempt>(step.queue).subspan(from))) return;
  std::vector<Part> front;
  cut(step.queue, from, kPerPart, 0, front, output);
  step.queue.resize(from);
  step.later.insert(step.later.begin(), front.begin(), front.end());
}

void put_away(const Graph& graph, State& state, StepState& step, kernel::StepOutput& output) {
  if (step.later.empty()) {
    if (step.queue.size() <= 2 * kPerPart) return;
    const std::size_t head = std::max(kPerPart, behind_delayed(step.queue));
    std::size_t rest = cut(step.queue, head, kPerLargePart, 0, step.later, output);
    rest = cut(step.queue, rest, kPerPart, 0, step.later, output);
    if (step.later.empty()) return;
    const auto behind = step.queue.begin() + static_cast<std::ptrdiff_t>(rest);
    step.last.assign(std::make_move_iterator(behind), std::make_move_iterator(step.queue.end()));
    step.queue.resize(head);
    return;
  }
  std::vector<Part> before = std::exchange(step.later, {});
  if (step.queue.size() > 2 * kPerPart) put_front_away(step, output);
  keep<Attempt>(graph, state, before, output);
  step.later.insert(step.later.end(), before.begin(), before.end());
  if (step.last.size() < 2 * kPerPart) return;
  erase_first(step.last, cut(step.last, 0, kPerPart, kPerPart, step.later, output));
}

void put_away(const Graph& graph, State& state, JoinState& join, kernel::StepOutput& output) {
  keep<Event>(graph, state, join.earlier, output);
  if (join.members.size() < 2 * kPerPart) return;
  erase_first(join.members, cut(join.members, 0, kPerPart, kPerPart, join.earlier, output));
}

std::size_t count(const std::vector<Part>& parts) {
  std::size_t all = 0;
  for (const Part& part : parts) all += static_cast<std::size_t>(part.count);
  return all;
}

}  // namespace

void add_to_queue(StepState& step, Attempt attempt) {
  (step.later.empty() ? step.queue : step.last).push_back(std::move(attempt));
}

void bring_next(const Graph& graph, State& state, StepState& step) {
  if (step.later.empty()) return;
  read_part(graph, state, step.later.front(), step.queue);
  step.later.erase(step.later.begin());
  if (step.later.empty()) append(step.queue, step.last);
}

void bring_queue(const Graph& graph, State& state, StepState& step) {
  while (!step.later.empty()) bring_next(graph, state, step);
}

void bring_members(const Graph& graph, State& state, JoinState& join) {
  if (join.earlier.empty()) return;
  std::vector<Event> all;
  for (const Part& part : join.earlier) read_part(graph, state, part, all);
  append(all, join.members);
  join.members = std::move(all);
  join.earlier.clear();
}

void bring_all(const Graph& graph, State& state) {
  for (StepState& step : state.steps) bring_queue(graph, state, step);
  for (Stream& stream : state.streams) {
    for (JoinState& join : stream.joins) bring_members(graph, state, join);
  }
}

bool has_parts(const State& state) {
  return std::ranges::any_of(state.steps,
                             [](const StepState& step) { return !step.later.empty(); }) ||
         std::ranges::any_of(state.streams, [](const Stream& stream) {
           return std::ranges::any_of(stream.joins,
                                      [](const JoinState& join) { return !join.earlier.empty(); });
         });
}

std::size_t count_queued(const StepState& step) {
  return step.queue.size() + count(step.later) + step.last.size();
}

std::size_t count_members(const JoinState& join) {
  return count(join.earlier) + join.members.size();
}

void put_away(const Graph& graph, State& state, kernel::StepOutput& output) {
  for (StepState& step : state.steps) put_away(graph, state, step, output);
  for (Stream& stream : state.streams) {
    for (JoinState& join : stream.joins) put_away(graph, state, join, output);
  }
}

}  // namespace holdfast::steps
