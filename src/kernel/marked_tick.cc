// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

EventSource& make_source(WorldState& world, std::string_view name, std::uint64_t now_ns) {
  auto& sources = world.sources;
  if (sources.size() == kMostEventSources) {
    sources.erase(std::ranges::min_element(sources, {}, &EventSource::heard_ns));
  }
  const auto place = std::ranges::lower_bound(sources, name, {}, &EventSource::name);
  const EventIdLimits limits{world.options.event_ids.window_ns, kMostSourceIds};
  return *sources.insert(place, EventSource{std::string(name), now_ns, EventIds(limits, 0)});
}

}  // namespace

Answer reduce_marked(WorldState& world, const SourceMarked& marked) {
  if (marked.source.empty() || !is_text(marked.source, kMaxEventIdBytes))
    return Refused{base::ErrorCode::kInvalid, "the name of the source is empty, long or no text"};
  if (marked.record >= world.next_record)
    return Refused{base::ErrorCode::kInvalid,
                   "record " + std::to_string(marked.record) + " is not there yet"};
  const std::uint64_t now_ns = std::max(world.latest_ns, world.tick->time_ns);
  const auto known = std::ranges::find(world.sources, marked.source, &EventSource::name);
  EventSource& source =
      known == world.sources.end() ? make_source(world, marked.source, now_ns) : *known;
  source.heard_ns = now_ns;
  source.ids.mark(marked.record, now_ns);
  return Accepted{};
}

}  // namespace holdfast::kernel
