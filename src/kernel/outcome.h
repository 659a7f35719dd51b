// SPDX-License-Identifier: Apache-2.0
// Outcome: what one tick did: a record for the journal, commands to perform once the record is
// durable, and an answer for whoever sent it. A refusal changes nothing and leaves no record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"

namespace holdfast::kernel {

// Make sure that this effect is started. The intent is the idempotency key.
struct OpenIntent {
  base::Hash intent;
  std::string effect;
  std::string executor;
  std::string queue;
  base::Bytes params;  // canonical, without the self-describe tag
  std::string workflow;
  base::Bytes key;
  std::optional<std::uint64_t> timeout_ns;
};

// Nobody waits for this effect any more; stop it if that can be done.
struct StopIntent {
  base::Hash intent;
};

// Mail is left over: send a Continue tick.
struct ContinueSoon {};

using Command = std::variant<OpenIntent, StopIntent, ContinueSoon>;

struct Accepted {
  std::uint64_t record = 0;
  std::uint32_t deliveries = 0;  // instances that got the event
  std::uint32_t ignored = 0;     // instances that had ended already
  bool unrouted = false;         // nobody subscribes to the event
};

// The same was accepted before; nothing happened now.
struct Repeated {
  std::uint64_t record = 0;
};

struct Refused {
  base::ErrorCode code;
  std::string message;
};

using Answer = std::variant<Accepted, Repeated, Refused>;

struct Outcome {
  // What the world is kept in could not be read or written. Nothing of this world may be used any
  // more; opening it again from the journal is safe.
  std::optional<base::Error> failure;

  base::Bytes record;  // empty: the tick left no trace
  std::vector<Command> commands;
  Answer answer;
};

}  // namespace holdfast::kernel
