// SPDX-License-Identifier: Apache-2.0
// EventBody: an event as a client wrote it, in one of the forms that there are for it: our own
// document, a CloudEvent in one document, a CloudEvent in header fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "gateway/envelope.h"
#include "gateway/problem.h"
#include "gateway/request.h"

namespace holdfast::gateway {

struct EventBody {
  std::string schema;
  std::string id;
  Written value;
  std::string place = "$";   // of the value in the body
  base::Bytes decoded = {};  // what `value` borrows from, if that is not the body
  std::uint64_t wait_ms = 0;
};

// The value borrows from the request.
std::variant<EventBody, Problem> read_event(const Request& request, std::uint64_t most_wait_ms);

// The id of the event: what the document says, or the header field. A problem if they differ, or if
// one is there and empty.
std::optional<Problem> take_id(const Request& request, std::optional<std::string> given,
                               std::string& id);

}  // namespace holdfast::gateway
