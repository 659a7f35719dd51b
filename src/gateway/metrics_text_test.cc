// SPDX-License-Identifier: Apache-2.0
#include "gateway/metrics_text.h"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::gateway {
namespace {

TEST(MetricsText, figures_are_written_as_prometheus_reads_them) {
  MetricsText text;
  text.gauge("a", "What it is.", 3);
  text.family("b", "counter", "By kind.");
  text.sample({{"kind", "x"}, {"name", "say \"no\"\\\n"}}, 7);
  text.seconds({}, 1'500'000);
  EXPECT_EQ(text.text(),
            "# HELP a What it is.\n# TYPE a gauge\na 3\n"
            "# HELP b By kind.\n# TYPE b counter\n"
            "b{kind=\"x\",name=\"say \\\"no\\\"\\\\\\\\x0a\"} 7\nb 0.0015\n");
}

TEST(MetricsText, the_steps_of_a_histogram_count_everything_below_them) {
  constexpr std::array<std::uint64_t, 2> kBounds{10, 100};
  Histogram histogram(kBounds);
  for (const std::uint64_t value : {1u, 10u, 11u, 500u}) histogram.add(value);
  MetricsText text;
  text.family("h", "histogram", "H.");
  text.histogram({{"k", "v"}}, histogram);
  EXPECT_EQ(text.text(),
            "# HELP h H.\n# TYPE h histogram\n"
            "h_bucket{k=\"v\",le=\"10\"} 2\nh_bucket{k=\"v\",le=\"100\"} 3\n"
            "h_bucket{k=\"v\",le=\"+Inf\"} 4\nh_sum{k=\"v\"} 522\nh_count{k=\"v\"} 4\n");
}

}  // namespace
}  // namespace holdfast::gateway
