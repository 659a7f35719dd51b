// SPDX-License-Identifier: Apache-2.0
// Workflows of three echo effects, or of three steps, in an engine inside this process, so many at
// a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/bench_course.h"
#include "cli/bench_limits.h"

namespace holdfast::cli {

struct EmbeddedOptions {
  std::string folder;
  std::uint64_t in_flight = 512;
  double seconds = 10;
  std::uint64_t workflows = 0;  // to run, however long it takes; 0: for so many seconds
  bool history = true;
  bool of_steps = false;  // a step workflow, whose bodies run in this process
};

struct EmbeddedFigures {
  std::uint64_t workflows = 0;
  double seconds = 0;
  Course course;  // latencies: from the call that begins one until its end is known to be durable
  double cpu_us_per_workflow = 0;  // of this process, until the index has caught up
  double peak_mb = 0;              // of resident memory
  double syncs_per_workflow = 0;
  double journal_bytes_per_workflow = 0;
  std::uint64_t history_lag = 0;  // records that the index had not seen at the end
  double history_catch_up_s = 0;  // until it had
};

base::Result<EmbeddedFigures> bench_embedded(const EmbeddedOptions& options);

}  // namespace holdfast::cli
