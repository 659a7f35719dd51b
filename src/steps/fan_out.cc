// SPDX-License-Identifier: Apache-2.0
// Fan-out and fan-in. A step that returns a list opens a stream. What is open in a stream is
// counted: every attempt, wait and event on its way that came out of it, and every stream inside.
// At zero it closes, and the steps that join get what has come.
#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "steps/parts.h"
#include "steps/work.h"

namespace holdfast::steps {

Event list_of(Work& work, TypeIndex type, const std::vector<Event>& members) {
  codec::Buffer out;
  codec::write_list_head(out, members.size());
  for (const Event& member : members) out.append(member.value);
  return {type, true, work.state.arena.keep(out.view())};
}

// Of two ways that meet, a handler has helped as often as on the one where it helped more.
void merge(Lineage& lineage, const Lineage& other) {
  for (const Recovery& recovery : other) {
    const auto found = std::find_if(lineage.begin(), lineage.end(), [&](const Recovery& known) {
      return known.handler == recovery.handler;
    });
    if (found == lineage.end()) {
      lineage.push_back(recovery);
    } else {
      found->count = std::max(found->count, recovery.count);
    }
  }
}

namespace {

void fire(Work& work, Stream& stream, JoinState& join) {
  join.has_fired = true;
  bring_members(work.graph, work.state, join);
  const Event event = list_of(work, work.graph.step(join.step).join->type, join.members);
  join.members.clear();
  Lineage lineage = std::move(join.lineage);
  merge(lineage, stream.lineage);
  dispatch(work, join.step,
           Attempt{.event = event, .stream = stream.parent, .lineage = std::move(lineage)});
}

// Drops what waits in slots, fires what has not fired; the stream is gone then. What has fired is
// what becomes of it in the stream around it.
std::uint64_t close(Work& work, Stream& closing) {
  const auto at = work.state.streams.begin() + (&closing - work.state.streams.data());
  Stream stream = std::move(closing);
  work.state.streams.erase(at);
  drop_held(work, stream.id);
  std::uint64_t fired = 0;
  for (JoinState& join : stream.joins) {
    if (join.has_fired) continue;
    fire(work, stream, join);
    ++fired;
  }
  return fired;
}

}  // namespace

void open_stream(Work& work, StepIndex opener, const Attempt& attempt,
                 const std::vector<Event>& events) {
  // Nobody will ask when it is over: then there is nothing to count, and a loop of such fan-outs
  // is not a nest of streams.
  if (work.graph.joins_of(opener).empty()) {
    for (const Event& event : events)
      work.emit(QueueEvent{{.event = event, .stream = attempt.stream, .lineage = attempt.lineage}});
    return settle_item(work, attempt.stream, events.size());
  }
  Stream stream{.id = ++work.state.last_stream,
                .parent = attempt.stream,
                .open = events.size() + 1,
                .lineage = attempt.lineage,
                .joins = {}};
  for (const StepIndex step : work.graph.joins_of(opener))
    stream.joins.push_back({.step = step, .earlier = {}, .members = {}, .lineage = {}});
  const std::uint64_t id = stream.id;
  work.state.streams.push_back(std::move(stream));
  for (const Event& event : events)
    work.emit(QueueEvent{{.event = event, .stream = id, .lineage = attempt.lineage}});
  // It was one more until now, so that it closes here if it is empty.
  settle_item(work, id, 0);
}

// A loop, as fan-outs may be nested without end.
void settle_item(Work& work, std::uint64_t stream, std::uint64_t successors) {
  while (stream != 0) {
    Stream* found = work.state.find_stream(stream);
    if (found == nullptr) return;
    found->open = found->open + successors - 1;
    if (found->open != 0) return;
    stream = found->parent;
    successors = close(work, *found);
  }
}

Joined join(Work& work, StepIndex step, const AddEvent& tick) {
  const std::optional<Join>& wanted = work.graph.step(step).join;
  if (!wanted || wanted->type != tick.event.type) return Joined::kNo;
  Stream* stream = tick.stream == 0 ? nullptr : work.state.find_stream(tick.stream);
  if (stream == nullptr) return Joined::kCannot;
  const auto found = std::find_if(stream->joins.begin(), stream->joins.end(),
                                  [&](const JoinState& state) { return state.step == step; });
  if (found == stream->joins.end()) return Joined::kCannot;
  if (found->has_fired) return Joined::kYes;  // it has its first so many
  found->members.push_back(tick.event);
  merge(found->lineage, tick.lineage);
  if (wanted->take == 0 || count_members(*found) < wanted->take) return Joined::kYes;
  if (Stream* parent = work.state.find_stream(stream->parent)) ++parent->open;
  fire(work, *stream, *found);
  return Joined::kYes;
}

}  // namespace holdfast::steps
