// SPDX-License-Identifier: Apache-2.0
// EventSource: a place outside that keeps events until it has marked them, such as the inbox of a
// database. It may send an event again long after the first time: when the mark was never made, or
// is lost with the last commits of that place. So its ids are not forgotten by the clock alone; see
// SourceMarked in kernel/tick.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/event_ids.h"

namespace holdfast::kernel {

struct EventSource {
  std::string name;
  std::uint64_t heard_ns = 0;  // of it, last
  EventIds ids;
};

// Null: the id is of no source that is known.
inline EventSource* source_of(std::vector<EventSource>& sources, std::string_view id) noexcept {
  for (EventSource& source : sources) {
    if (id.size() > source.name.size() && id.starts_with(source.name) &&
        id[source.name.size()] == '/')
      return &source;
  }
  return nullptr;
}

}  // namespace holdfast::kernel
