// SPDX-License-Identifier: Apache-2.0
// Layout: where boxes and arrows go, in layers from top to bottom. An arrow leads from a layer to a
// lower one; one that would close a circle leads up. Whole numbers only, and everything in the
// order it was given: the same boxes and arrows are at the same places each time.
//
// 1. Boxes of a layer do not overlap.
// 2. An arrow passes the layers between its ends beside their boxes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace holdfast::steps {

struct LayoutBox {
  int width = 0;
  int height = 0;
};

struct Place {
  int x = 0;  // of the middle
  int y = 0;  // of the upper edge
};

struct Layout {
  std::vector<Place> boxes;
  // From the upper end of an arrow to its lower one: pairs of points; between the two of a pair it
  // bends, from pair to pair it goes straight down. Empty: both ends are the same box.
  struct Path {
    std::vector<Place> points;
    bool leads_up = false;
  };
  std::vector<Path> paths;
  int width = 0;
  int height = 0;
};

using LayoutArrow = std::pair<std::size_t, std::size_t>;  // from, to: numbers of boxes

Layout lay_out(const std::vector<LayoutBox>& boxes, const std::vector<LayoutArrow>& arrows);

}  // namespace holdfast::steps
