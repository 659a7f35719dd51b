// SPDX-License-Identifier: Apache-2.0
// How a benchmark went over its time: throughput and latency in equal spans, the longest stall, and
// a plot of it. An average over the whole run hides what a user meets at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::cli {

// One piece of work.
struct Finished {
  double at_s = 0;  // since the beginning of the run
  double took_us = 0;
};

struct CourseSpan {
  double begin_s = 0;
  double per_s = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

struct Course {
  std::vector<CourseSpan> spans;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  double stall_ms = 0;     // the longest time in which nothing finished
  double first_per_s = 0;  // of the first 200 000, or of all if there are fewer
  double last_per_s = 0;   // of the last 200 000
};

// In the order in which they finished; so many spans at most.
Course course_of(const std::vector<Finished>& finished, double seconds, std::size_t spans);

// An SVG of it: throughput above, p50, p99 and the largest latency below.
std::string plot_of(const Course& course, const std::string& title);
base::Result<void> write_plot(const std::string& path, const Course& course,
                              const std::string& title);

}  // namespace holdfast::cli
