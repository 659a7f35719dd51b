// SPDX-License-Identifier: Apache-2.0
// Broker: the state of a run, and what it still owes the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"
#include "steps/state.h"

namespace holdfast::steps {

// How the run will have ended when everything before its end is out.
struct Ending {
  bool is_failure = false;
  Failure failure;        // a failure
  base::ByteView result;  // else
};

struct Outbox {
  std::vector<std::uint64_t> alarms;    // the timers that are set, ascending; when they are due
  bool is_continuing = false;           // a timer is set that only goes on with this
  bool is_idle_told = false;            // that the run is idle, since it is
  std::uint64_t open_runs = 0;          // effects that run steps and have not come back
  std::vector<base::ByteView> entries;  // of the stream, that are not out yet
  std::optional<Ending> ending;
};

struct Broker {
  explicit Broker(std::size_t step_count) : state(step_count) {}

  State state;
  Outbox outbox;
};

void write_broker(codec::Buffer& out, const State& state, const Outbox& outbox);

// Nothing: they are not the broker of a run of this graph. What is read borrows from the bytes.
std::optional<Broker> read_broker(base::ByteView bytes, const Graph& graph);

}  // namespace holdfast::steps
