// SPDX-License-Identifier: Apache-2.0
// Cell: the state of an instance of sys/Schedule@1, and the events that it is told from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/buffer.h"
#include "codec/view.h"
#include "schedules/spec.h"

namespace holdfast::schedules {

inline constexpr std::string_view kScheduleSet = "sys/ScheduleSet@1";
inline constexpr std::string_view kScheduleControl = "sys/ScheduleControl@1";

enum class Phase : std::uint8_t {
  kActive,
  kPaused,
  kRemoving,  // it starts nothing any more, and goes when its runs have ended
  kEnded,     // nothing is due any more
};
std::string_view name_of(Phase phase) noexcept;

// What became of a due time.
enum class DueOutcome : std::uint8_t {
  kRunning,
  kCompleted,
  kFailed,     // the run failed, or could not be started
  kCancelled,  // the run was cancelled
  kSkipped,    // an earlier run had not ended
  kMissed,     // the server was down, or the schedule was paused
};
std::string_view name_of(DueOutcome outcome) noexcept;

struct Due {
  std::uint64_t due_ns = 0;
  DueOutcome outcome = DueOutcome::kRunning;
  std::string key;   // of the instance; empty: none was started
  std::string note;  // why it was skipped, missed or failed
};

struct ScheduleRun {
  std::uint64_t number = 0;  // its effect has the reference "run:NUMBER"
  std::uint64_t due_ns = 0;
  std::string key;
  bool is_stopping = false;
};

struct Counts {
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t skipped = 0;
  std::uint64_t missed = 0;
};

inline constexpr std::size_t kMostRuns = 100;    // at the same time
inline constexpr std::size_t kMostQueued = 100;  // due times that wait for a run to end
inline constexpr std::size_t kMostRecent = 20;

struct Cell {
  Spec spec;
  Phase phase = Phase::kActive;
  std::uint64_t created_ns = 0;
  std::uint64_t generation = 0;          // of the open question or timer; older answers are stale
  std::uint64_t after_ns = 0;            // all due times up to here are decided
  std::optional<std::uint64_t> next_ns;  // the next one, once it is known
  std::uint64_t runs_begun = 0;
  std::uint64_t last_manual_ns = 0;
  Counts counts;
  std::vector<ScheduleRun> runs;
  std::vector<std::uint64_t> queued;  // due times
  std::vector<Due> recent;            // oldest first
  std::string error;                  // why the next due time is not known
};

void write_cell(codec::Buffer& out, const Cell& cell);
std::optional<Cell> read_cell(codec::View value);

// The events.
void write_set(codec::Buffer& out, std::string_view schedule, const Spec& spec, bool replaces,
               bool is_paused);

enum class Action : std::uint8_t { kPause, kResume, kRun, kRemove, kRemoveAndCancel };
void write_control(codec::Buffer& out, std::string_view schedule, Action action);
std::optional<Action> read_action(codec::View event);

// The key of the instance, canonical.
base::Bytes key_of(std::string_view schedule);

}  // namespace holdfast::schedules
