// SPDX-License-Identifier: Apache-2.0
// EventSource: where the events of an answer that goes on come from, and how they are written
// (server-sent events, as HTML has them). A source is asked for more when its reader has taken what
// there was, and not before: so a slow reader holds up itself, and no more than one part waits for
// it in memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "gateway/problem.h"

namespace holdfast::gateway {

class Exchange;

class EventSource {
 public:
  virtual ~EventSource() = default;

  // Somebody reads, and has everything so far. Later, events are put into Exchange::events(), and
  // then either Exchange::events_are_there or Exchange::end_events is called.
  virtual void next(Exchange& exchange) = 0;

  // Nobody reads any more.
  virtual void stop() = 0;
};

// So much is asked for at a time.
inline constexpr std::size_t kEventsAtOnce = 100;
inline constexpr std::size_t kEventBytesAtOnce = std::size_t{64} << 10;

// One event. Its id is where a reader goes on behind it (Last-Event-ID), with the life of the world
// in front (gateway/cursor.h); an event without name is a message. The value is canonical CBOR, and
// goes out as JSON.
void write_event(codec::Buffer& out, std::string_view life, std::uint64_t id, std::string_view name,
                 base::ByteView value);

// Only where a reader goes on that is cut off here; it sees no event.
void write_id(codec::Buffer& out, std::string_view life, std::uint64_t id);

// What came before this place cannot be read any more.
void write_truncated(codec::Buffer& out, std::string_view life, std::uint64_t up_to);

// Something went wrong; whoever comes again goes on behind the last id.
void write_problem_event(codec::Buffer& out, const Problem& problem);

void write_comment(codec::Buffer& out, std::string_view text);

// Why a stream ends although there is more: its reader comes again soon.
inline Error too_much_waits() {
  return {ErrorCode::kUnavailable, "too much waits to be sent to clients"};
}

}  // namespace holdfast::gateway
