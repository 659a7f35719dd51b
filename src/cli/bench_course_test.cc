// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_course.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

// Ten a second for ten seconds, with a pause of two seconds in the middle.
std::vector<Finished> with_a_pause() {
  std::vector<Finished> all;
  for (int i = 0; i < 100; ++i) {
    const double at_s = 0.05 + 0.1 * i;
    if (at_s > 4 && at_s < 6) continue;
    all.push_back({at_s, at_s < 6 ? 1000.0 : 3000.0});
  }
  return all;
}

TEST(BenchCourse, a_stall_shows_in_its_spans_and_by_itself) {
  const Course course = course_of(with_a_pause(), 10, 5);
  ASSERT_EQ(course.spans.size(), 5u);
  EXPECT_NEAR(course.spans[0].per_s, 10, 0.6);
  EXPECT_EQ(course.spans[2].per_s, 0);
  EXPECT_EQ(course.spans[2].p99_us, 0);
  EXPECT_EQ(course.spans[4].p50_us, 3000);
  EXPECT_NEAR(course.stall_ms, 2100, 1);
  EXPECT_EQ(course.max_us, 3000);
  EXPECT_NEAR(course.first_per_s, 8, 0.2);
}

TEST(BenchCourse, of_nothing_there_is_nothing) {
  const Course course = course_of({}, 10, 5);
  EXPECT_TRUE(course.spans.empty());
  EXPECT_NE(plot_of(course, "nothing").find("</svg>"), std::string::npos);
}

TEST(BenchCourse, the_plot_has_a_point_for_every_span) {
  const std::string svg = plot_of(course_of(with_a_pause(), 10, 5), "512 in flight");
  std::size_t points = 0;
  for (std::size_t at = svg.find("points=\""); at != std::string::npos;
       at = svg.find("points=\"", at + 1)) {
    const std::size_t end = svg.find('"', at + 8);
    points +=
        static_cast<std::size_t>(std::count(svg.begin() + static_cast<std::ptrdiff_t>(at),
                                            svg.begin() + static_cast<std::ptrdiff_t>(end), ','));
  }
  EXPECT_EQ(points, 4u * 5u) << "throughput, p50, p99 and the largest";
  EXPECT_NE(svg.find("512 in flight"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli
