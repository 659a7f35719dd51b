// SPDX-License-Identifier: Apache-2.0
// Task events: what a record of the journal says about tasks, graphs and leases. A view: nothing is
// stored for it, and the same record gives the same events for ever.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/view.h"

namespace holdfast::cursors {

// Where an event stands: the record, and its place among the events of that record.
struct EventId {
  std::uint64_t record = 0;
  std::uint32_t index = 0;

  std::string to_text() const;  // "4711.0"
  static std::optional<EventId> parse(std::string_view text);
  friend auto operator<=>(const EventId&, const EventId&) = default;
};

struct TaskEvent {
  EventId id = {};
  base::Bytes document = {};  // a map in CBOR, for codec::to_json
};

// `record`: a document of Engine::read_journal. In the order in which the record has them.
std::vector<TaskEvent> events_of(codec::View record);

}  // namespace holdfast::cursors
