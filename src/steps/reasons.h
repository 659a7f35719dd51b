// SPDX-License-Identifier: Apache-2.0
// Why a run of a step workflow has not ended, as far as its own state knows: what its steps wait
// for, what is tried again later, what has no slot yet. What is running is an effect, of which the
// kernel tells.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "steps/graph.h"

namespace holdfast::steps {

struct Reason {
  enum class Kind : std::uint8_t {
    kWait,     // a step waits for an event from outside
    kRetry,    // a step has failed, and is tried again later
    kQueued,   // an event has no slot of its step yet
    kEvent,    // nothing is under way, and no step waits: the next event begins something
    kTimeout,  // the whole run ends then
    kAttempt,  // a step is being tried again
    kFailed,   // an attempt that failed; the last few of a run, also of one that has ended
  };
  Kind kind = Kind::kWait;
  std::string step;            // all but kEvent and kTimeout
  std::uint64_t item = 0;      // 0: it has no number yet
  std::string schema;          // kWait: of what it waits for; else of what it deals with
  std::uint64_t due_ns = 0;    // 0: there is no deadline; kFailed: when it failed
  std::uint64_t failures = 0;  // kRetry, kAttempt: so far; kFailed: with this one
  std::string code;            // likewise: of the last failure, if the state has it
  std::string message;
  std::uint64_t events_before = 0;  // kQueued: in the same queue
  std::uint64_t running = 0;        // kQueued: slots that are taken
  std::uint64_t workers = 0;        // kQueued: of so many
  std::vector<std::pair<std::string, base::Bytes>> requirements = {};  // kWait
  std::vector<std::string> schemas = {};  // kEvent: of what steps take from outside
};

// Of a sys/StepsState@1, those that people want to hear first in front; so many at most. Nothing
// where it is not a state of this graph.
std::vector<Reason> reasons_of(const Graph& graph, base::ByteView state, std::size_t most);

}  // namespace holdfast::steps
