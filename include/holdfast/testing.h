// SPDX-License-Identifier: Apache-2.0
// What the tests of a program that uses Holdfast need, without files and with a clock that is moved
// by hand:
//   testing::World   workflows of any kind together, as an engine routes and limits them
//   MemoryRuns<W>    runs of one step workflow alone: faster, with recordings, threads if wanted
// Both hold a run to the same limits, and give bodies fakes as resources: step_handlers(host,
// fakes), MemoryOptions{.resources = fakes}.
//
// Link holdfast::holdfast and holdfast::memory for it.
#pragma once

#include "holdfast/memory_runs.h"  // IWYU pragma: export
#include "holdfast/test_world.h"   // IWYU pragma: export
