// SPDX-License-Identifier: Apache-2.0
// GraphCell: the state of one graph, an instance of sys/Graph@1: what the whole is, how much of it
// has come in, and how many of its tasks have ended. It is small, however large the graph.
// docs/formats/task-graph.md has its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/buffer.h"
#include "codec/view.h"
#include "tasks/graph_parts.h"
#include "tasks/graph_progress.h"

namespace holdfast::tasks {

enum class GraphPhase : std::uint8_t {
  kIntake,      // parts come in; nothing runs
  kRunning,     // sealed
  kDiscarding,  // never sealed: its tasks are being deleted
  kEnded,
};

struct GraphCell {
  GraphPhase phase = GraphPhase::kIntake;
  GraphHeader header;
  GraphIntake intake;
  // Tasks with smaller numbers have been told that the graph starts, that it is cancelled, or that
  // they are to go. Nothing: nobody has to be told.
  std::optional<std::uint32_t> told;
  bool is_cancelling = false;
  std::uint32_t done = 0;  // tasks that workers run, skipped ones too
  std::uint32_t skipped = 0;
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
  std::uint32_t left = 0;      // instances that have not ended: joins and gates, too
  std::uint32_t frontier = 0;  // the epoch that runs
  std::uint64_t created_ns = 0;
  std::uint64_t sealed_ns = 0;   // 0: not yet
  std::uint64_t ended_ns = 0;    // 0: not yet
  std::string first_error = {};  // of the task that failed first, by itself
  std::string cancel_reason = {};
  std::string cancelled_by = {};

  // Tasks that have not ended. Whether a worker has one is known to the effects that are open.
  std::uint32_t open() const noexcept { return header.run_count - done - failed - cancelled; }
  GraphVerdict verdict() const noexcept;
};

void write_cell(codec::Buffer& out, const GraphCell& cell);
std::optional<GraphCell> read_graph_cell(codec::View value);

}  // namespace holdfast::tasks
