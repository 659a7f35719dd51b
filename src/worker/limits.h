// SPDX-License-Identifier: Apache-2.0
// Every bound of a worker in one place. docs/worker-protocol.md has those that the server checks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "codec/limits.h"

namespace holdfast::work {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// Tasks that run at once.
inline constexpr std::size_t kMostSlots = 4096;

// The result of a task as CBOR. What is larger becomes the error task.result_too_large.
inline constexpr std::size_t kMaxResultBytes = 8 * kMiB;
inline constexpr std::size_t kMaxErrorTextBytes = 4 * kKiB;
inline constexpr std::size_t kMaxProgressBytes = 64 * kKiB;

// One report in the outbox: a result as JSON and what is said around it. A result that takes more
// as JSON is too large, too. With kMaxSyncBytes of other things it fits a request of 16 MiB.
inline constexpr std::size_t kMaxReportBytes = 11 * kMiB;
inline constexpr std::size_t kMaxResumeBytes = 64 * kKiB;

// Above this many bytes of reports that no server has acknowledged, a worker asks for no more work.
// Work that it has already adds one report each, so this is not quite the most that is held.
inline constexpr std::size_t kOutboxFullBytes = 64 * kMiB;

// Lines of output: a longer line is cut; of one task no more than this waits to be sent, and the
// oldest lines go first.
inline constexpr std::size_t kMaxLineBytes = 8 * kKiB;
inline constexpr std::size_t kMaxWaitingLines = 4000;
inline constexpr std::size_t kMaxWaitingLogBytes = 256 * kKiB;
inline constexpr std::size_t kMaxAllLogBytes = 64 * kMiB;  // of all tasks together
inline constexpr std::size_t kMaxLinesOfEntry = 1000;
inline constexpr std::size_t kMaxLogEntries = 256;

// Of one request: the reports and log lines beyond this wait for the next one.
inline constexpr std::size_t kMaxSyncBytes = 4 * kMiB;

// What a server may answer with: one value.
inline constexpr std::size_t kMaxAnswerBytes = codec::kMaxValueBytes;

// Between being asked to stop and SIGTERM unless the server says otherwise, and between SIGTERM and
// SIGKILL.
inline constexpr std::chrono::milliseconds kStopGrace = std::chrono::seconds(10);
inline constexpr std::chrono::milliseconds kKillGrace = std::chrono::seconds(5);

}  // namespace holdfast::work
