// SPDX-License-Identifier: Apache-2.0
// Broker: the state of a run, and what it still owes the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"
#include "steps/reduction.h"
#include "steps/state.h"

namespace holdfast::steps {

struct ChildName {
  std::string_view workflow;
  base::ByteView key;
};

struct Outbox {
  std::vector<std::uint64_t> alarms;  // the timers that are set, ascending; when they are due
  bool is_continuing = false;         // a timer is set that only goes on with this
  bool is_idle_told = false;          // that the run is idle, since it is
  std::uint64_t open_runs = 0;        // effects that run steps and have not come back

  std::vector<ChildName> stops;  // children to be stopped, that did not fit a turn

  // Of a turn, and over with it; a run outside of a world keeps its ending. States that are older
  // than this may have them still.
  std::vector<base::ByteView> entries;  // of the stream
  std::optional<Ending> ending;
};

struct Broker {
  explicit Broker(std::size_t step_count) : state(step_count) {}

  State state;
  Outbox outbox;
};

void write_broker(codec::Buffer& out, const State& state, const Outbox& outbox);

// A sys/StepsState@1.
void write_steps_state(codec::Buffer& out, const State& state, const Outbox& outbox,
                       std::string_view status);

// Nothing: they are not the broker of a run of this graph. What is read borrows from the bytes.
std::optional<Broker> read_broker(base::ByteView bytes, const Graph& graph);

// The same of a sys/StepsState@1.
std::optional<Broker> broker_in(base::ByteView state, const Graph& graph);

}  // namespace holdfast::steps
