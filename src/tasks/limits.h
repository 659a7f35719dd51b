// SPDX-License-Identifier: Apache-2.0
// Every bound on task documents and what is made of them. A document that passes one of them is
// refused with an error that names the place. CompileOptions (tasks/compile.h) sets the number of
// tasks; the others are constants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/limits.h"

namespace holdfast::tasks {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = kKiB * 1024;

// Tasks of one graph, if nothing else is configured. An element of a foreach is one task.
inline constexpr std::size_t kDefaultMaxTasks = 100'000;

// No configuration allows more: task numbers and the joins beside them fit 32 bits with room.
inline constexpr std::size_t kMostTasks = 10'000'000;

// Dependencies of one graph, after each foreach is expanded.
inline constexpr std::size_t kMaxDependencies = 2'000'000;

// The spec of one task after the template is merged, one foreach element, and all specs together.
inline constexpr std::size_t kMaxSpecBytes = 256 * kKiB;
inline constexpr std::size_t kMaxElementBytes = 64 * kKiB;
inline constexpr std::size_t kMaxSpecsBytes = 256 * kMiB;

// Containers inside a spec or an element. Below codec::kMaxDepth, so that a definition around a
// spec and a result inside it still fit.
inline constexpr std::size_t kMaxSpecDepth = 48;

// Names of nodes, task types and workers; labels and other short texts; the name of a graph.
inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr std::size_t kMaxShortTextBytes = 256;
inline constexpr std::size_t kMaxLabels = 64;
inline constexpr std::size_t kMaxSelectedWorkers = 64;
inline constexpr std::size_t kMaxAnnotationsBytes = 4 * kKiB;  // a graph carries them with it

// What a task may ask for: memory (8Pi), thousandths of a processor, GPU devices, time (366 days).
inline constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{1} << 53;
inline constexpr std::uint64_t kMaxCpuMilli = 1'000'000'000;
inline constexpr std::uint64_t kMaxDevices = 4096;
inline constexpr std::uint64_t kMaxDurationNs = std::uint64_t{366} * 24 * 3600 * 1'000'000'000;

// Priorities are from -kMaxPriority on.
inline constexpr std::int64_t kMaxPriority = 1'000'000;
inline constexpr std::int64_t kMaxAttempts = 1'000'000;
inline constexpr std::int64_t kMaxConcurrency = 1'000'000;

// `${...}`: the text between the braces, the steps of its path, and the nodes that one task reads.
inline constexpr std::size_t kMaxReferenceBytes = 512;
inline constexpr std::size_t kMaxPathSteps = 32;
inline constexpr std::size_t kMaxInputs = 1024;

// What a task gets: its spec with every reference resolved.
inline constexpr std::size_t kMaxRenderedBytes = 8 * kMiB;

// What a task may return. A result of more than kMaxInlineResultBytes is kept as a blob
// (tasks/large_result.h), so that a cell and what is told of its end stay small.
inline constexpr std::size_t kMaxLargeResultBytes = 8 * kMiB;
inline constexpr std::size_t kMaxInlineResultBytes = 64 * kKiB;

// A task's definition as it is stored: twice in a step that may put out 1 MiB, as its state and to
// its worker. And its result as it stands in the cell: the result itself, or a reference to it.
// A larger one fails the task.
inline constexpr std::size_t kMaxTaskBytes = 480 * kKiB;
inline constexpr std::size_t kMaxResultBytes = 448 * kKiB;

// A part of a graph that carries definitions: what one step can make tasks of.
inline constexpr std::size_t kPartOverheadBytes = 64;
inline constexpr std::size_t kMaxPartBytes = 968 * kKiB;
static_assert(kMaxTaskBytes + kMaxResultBytes + 2 * kPartOverheadBytes <= kMaxPartBytes);
inline constexpr std::size_t kMaxPartTasks = 200;

// Tasks that a task or graph tells something in one turn.
inline constexpr std::uint32_t kToldPerTurn = 200;

// Texts of errors that tasks keep, and workers that a task remembers to avoid.
inline constexpr std::size_t kMaxErrorBytes = 2 * kKiB;
inline constexpr std::size_t kMaxAvoided = 16;

// A graph whose parts do not all come within this time is discarded.
inline constexpr std::uint64_t kIntakeTimeoutNs = std::uint64_t{3600} * 1'000'000'000;

// Errors of one document that are kept; the rest is counted.
inline constexpr std::size_t kMaxProblems = 20;

}  // namespace holdfast::tasks
