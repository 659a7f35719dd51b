// SPDX-License-Identifier: Apache-2.0
#include "steps/layout.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace holdfast::steps {
namespace {

using Arrows = std::vector<LayoutArrow>;

std::vector<LayoutBox> boxes(std::size_t count) {
  std::vector<LayoutBox> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({40 + static_cast<int>(i % 5) * 30, 30 + static_cast<int>(i % 3) * 16});
  return all;
}

// The invariants of the header, and that everything is inside.
void check(const std::vector<LayoutBox>& given, const Arrows& arrows) {
  const Layout layout = lay_out(given, arrows);
  ASSERT_EQ(layout.boxes.size(), given.size());
  ASSERT_EQ(layout.paths.size(), arrows.size());
  const auto overlap = [&](std::size_t a, std::size_t b) {
    const int x = std::abs(layout.boxes[a].x - layout.boxes[b].x);
    const int apart = (given[a].width + given[b].width) / 2;
    const bool beside = layout.boxes[a].y >= layout.boxes[b].y + given[b].height ||
                        layout.boxes[b].y >= layout.boxes[a].y + given[a].height;
    return x < apart && !beside;
  };
  for (std::size_t a = 0; a < given.size(); ++a) {
    EXPECT_GE(layout.boxes[a].x - given[a].width / 2, 0);
    EXPECT_LE(layout.boxes[a].x + given[a].width / 2, layout.width);
    EXPECT_LE(layout.boxes[a].y + given[a].height, layout.height);
    for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(overlap(a, b)) << a << " " << b;
  }
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    if (arrows[i].first == arrows[i].second) {
      EXPECT_TRUE(layout.paths[i].points.empty());
      continue;
    }
    const auto& points = layout.paths[i].points;
    ASSERT_GE(points.size(), 2U);
    EXPECT_EQ(points.size() % 2, 0U);
    for (std::size_t at = 1; at < points.size(); ++at) {
      EXPECT_LE(points[at - 1].y, points[at].y);
      if (at % 2 == 0) {
        EXPECT_EQ(points[at - 1].x, points[at].x);
        for (std::size_t box = 0; box < given.size(); ++box) {
          const bool is_level = layout.boxes[box].y < points[at].y &&
                                points[at - 1].y < layout.boxes[box].y + given[box].height;
          EXPECT_FALSE(is_level &&
                       std::abs(layout.boxes[box].x - points[at].x) < given[box].width / 2)
              << "arrow " << i << " goes through box " << box;
        }
      }
    }
    const bool up = layout.boxes[arrows[i].first].y > layout.boxes[arrows[i].second].y;
    EXPECT_EQ(layout.paths[i].leads_up, up);
  }
}

TEST(Layout, nothing_is_laid_out_as_nothing) {
  const Layout layout = lay_out({}, {});
  EXPECT_TRUE(layout.boxes.empty());
  EXPECT_EQ(layout.width, 0);
}

TEST(Layout, a_row_of_arrows_goes_down) {
  const Arrows arrows{{0, 1}, {1, 2}, {0, 2}};
  check(boxes(3), arrows);
  const Layout layout = lay_out(boxes(3), arrows);
  EXPECT_LT(layout.boxes[0].y, layout.boxes[1].y);
  EXPECT_LT(layout.boxes[1].y, layout.boxes[2].y);
  EXPECT_EQ(layout.paths[2].points.size(), 4U) << "past the box between";
}

TEST(Layout, an_arrow_that_closes_a_circle_leads_up) {
  const Arrows arrows{{0, 1}, {1, 2}, {2, 1}, {2, 2}};
  check(boxes(3), arrows);
  EXPECT_TRUE(lay_out(boxes(3), arrows).paths[2].leads_up);
}

TEST(Layout, what_nothing_leads_to_stands_right_above_what_it_leads_to) {
  const Arrows arrows{{0, 1}, {1, 2}, {3, 2}};
  const Layout layout = lay_out(boxes(4), arrows);
  check(boxes(4), arrows);
  EXPECT_GT(layout.boxes[3].y, layout.boxes[0].y + 30);
  EXPECT_LT(layout.boxes[3].y, layout.boxes[2].y);
}

TEST(Layout, holds_for_many_graphs) {
  std::uint64_t seed = 1;
  const auto next = [&](std::size_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(seed >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + next(24);
    Arrows arrows;
    for (std::size_t i = next(3 * count); i != 0; --i)
      arrows.emplace_back(next(count), next(count));
    check(boxes(count), arrows);
    if (HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Layout, is_the_same_each_time) {
  const Arrows arrows{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 0}};
  const Layout a = lay_out(boxes(4), arrows);
  const Layout b = lay_out(boxes(4), arrows);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(std::pair(a.boxes[i].x, a.boxes[i].y), std::pair(b.boxes[i].x, b.boxes[i].y));
}

}  // namespace
}  // namespace holdfast::steps
