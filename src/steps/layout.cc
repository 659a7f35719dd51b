// SPDX-License-Identifier: Apache-2.0
#include "steps/layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace holdfast::steps {
namespace {

constexpr int kBetweenBoxes = 28;
constexpr int kBetweenLayers = 58;
constexpr int kMargin = 20;
constexpr int kLineWidth = 10;  // that an arrow takes where it passes a layer
constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 12;

// A long arrow would be a point in each layer that it passes. Beyond so many they are left out.
constexpr std::size_t kMostPoints = 20'000;

using Numbers = std::vector<std::size_t>;

class Maker {
 public:
  Maker(const std::vector<LayoutBox>& boxes, const std::vector<LayoutArrow>& arrows)
      : arrows_(arrows), box_count_(boxes.size()) {
    for (const LayoutBox& box : boxes) points_.push_back({box.width, box.height, 0, 0, {}, {}});
    layout_.paths.resize(arrows.size());
    chains_.resize(arrows.size());
  }

  Layout make() && {
    if (box_count_ == 0) return std::move(layout_);
    find_circles();
    find_ranks();
    make_chains();
    fill_layers();
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) sort_layers(sweep % 2 == 0);
    place();
    draw_paths();
    return std::move(layout_);
  }

 private:
  // A box, or where a long arrow passes a layer.
  struct Point {
    int width = 0;
    int height = 0;
    std::size_t rank = 0;
    int x = 0;  // of the middle
    Numbers above;
    Numbers below;
  };

  bool is_loop(std::size_t arrow) const { return arrows_[arrow].first == arrows_[arrow].second; }
  // The ends of an arrow, the upper first.
  std::size_t upper(std::size_t arrow) const {
    return layout_.paths[arrow].leads_up ? arrows_[arrow].second : arrows_[arrow].first;
  }
  std::size_t lower(std::size_t arrow) const {
    return layout_.paths[arrow].leads_up ? arrows_[arrow].first : arrows_[arrow].second;
  }

  // Arrows back to where a walk has come from lead up. Walks begin where nothing leads to.
  void find_circles() {
    std::vector<Numbers> leaving(box_count_);
    std::vector<bool> has_entering(box_count_, false);
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      if (is_loop(arrow)) continue;
      leaving[arrows_[arrow].first].push_back(arrow);
      has_entering[arrows_[arrow].second] = true;
    }
    enum class Seen : std::uint8_t { kNot, kOnTheWay, kDone };
    std::vector<Seen> seen(box_count_, Seen::kNot);
    const auto walk = [&](std::size_t first) {
      if (seen[first] != Seen::kNot) return;
      std::vector<std::pair<std::size_t, std::size_t>> way{{first, 0}};  // box, arrows looked at
      seen[first] = Seen::kOnTheWay;
      while (!way.empty()) {
        auto& [box, looked_at] = way.back();
        if (looked_at == leaving[box].size()) {
          seen[box] = Seen::kDone;
          way.pop_back();
          continue;
        }
        const std::size_t arrow = leaving[box][looked_at++];
        const std::size_t to = arrows_[arrow].second;
        if (seen[to] == Seen::kOnTheWay) {
          layout_.paths[arrow].leads_up = true;
        } else if (seen[to] == Seen::kNot) {
          seen[to] = Seen::kOnTheWay;
          way.emplace_back(to, 0);
        }
      }
    };
    for (std::size_t box = 0; box < box_count_; ++box) {
      if (!has_entering[box]) walk(box);
    }
    for (std::size_t box = 0; box < box_count_; ++box) walk(box);
  }

  // The longest way from above. What nothing leads to stands right above what it leads to.
  void find_ranks() {
    std::vector<Numbers> leaving(box_count_);
    Numbers entering(box_count_, 0);
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      if (is_loop(arrow)) continue;
      leaving[upper(arrow)].push_back(lower(arrow));
      ++entering[lower(arrow)];
    }
    Numbers ready;
    for (std::size_t box = 0; box < box_count_; ++box) {
      if (entering[box] == 0) ready.push_back(box);
    }
    const Numbers sources = ready;
    for (std::size_t at = 0; at < ready.size(); ++at) {
      for (const std::size_t to : leaving[ready[at]]) {
        points_[to].rank = std::max(points_[to].rank, points_[ready[at]].rank + 1);
        if (--entering[to] == 0) ready.push_back(to);
      }
    }
    for (const std::size_t source : sources) {
      std::size_t nearest = SIZE_MAX;
      for (const std::size_t to : leaving[source]) nearest = std::min(nearest, points_[to].rank);
      if (nearest != SIZE_MAX) points_[source].rank = nearest - 1;
    }
  }

  void make_chains() {
    std::size_t passing = 0;
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      if (!is_loop(arrow)) passing += points_[lower(arrow)].rank - points_[upper(arrow)].rank - 1;
    }
    const bool passes = passing <= kMostPoints;
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      if (is_loop(arrow)) continue;
      Numbers& chain = chains_[arrow];
      chain.push_back(upper(arrow));
      for (std::size_t rank = points_[upper(arrow)].rank + 1;
           passes && rank < points_[lower(arrow)].rank; ++rank) {
        points_.push_back({kLineWidth, 0, rank, 0, {}, {}});
        chain.push_back(points_.size() - 1);
      }
      chain.push_back(lower(arrow));
      for (std::size_t i = 1; i < chain.size(); ++i) {
        points_[chain[i - 1]].below.push_back(chain[i]);
        points_[chain[i]].above.push_back(chain[i - 1]);
      }
    }
  }

  void fill_layers() {
    for (std::size_t point = 0; point < points_.size(); ++point) {
      const std::size_t rank = points_[point].rank;
      if (layers_.size() <= rank) layers_.resize(rank + 1);
      layers_[rank].push_back(point);
    }
    heights_.resize(layers_.size(), 0);
    for (std::size_t rank = 0; rank < layers_.size(); ++rank) {
      for (const std::size_t point : layers_[rank])
        heights_[rank] = std::max(heights_[rank], points_[point].height);
    }
    number_places();
  }

  void number_places() {
    order_.resize(points_.size());
    for (const Numbers& layer : layers_) {
      for (std::size_t at = 0; at < layer.size(); ++at) order_[layer[at]] = at;
    }
  }

  // Each layer in the order of the middles of what its points are joined with in the layer before.
  void sort_layers(bool downwards) {
    for (std::size_t step = 1; step < layers_.size(); ++step) {
      Numbers& layer = layers_[downwards ? step : layers_.size() - 1 - step];
      std::vector<std::pair<double, std::size_t>> wanted;
      for (const std::size_t point : layer) {
        const Numbers& joined = downwards ? points_[point].above : points_[point].below;
        double sum = 0;
        for (const std::size_t other : joined) sum += static_cast<double>(order_[other]);
        wanted.emplace_back(joined.empty() ? static_cast<double>(order_[point])
                                           : sum / static_cast<double>(joined.size()),
                            point);
      }
      std::stable_sort(wanted.begin(), wanted.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t at = 0; at < layer.size(); ++at) layer[at] = wanted[at].second;
      for (std::size_t at = 0; at < layer.size(); ++at) order_[layer[at]] = at;
    }
  }

  // So far the middles of neighbours must be from each other.
  int distance(std::size_t left, std::size_t right) const {
    return (points_[left].width + points_[right].width) / 2 + kBetweenBoxes;
  }

  void place() {
    for (const Numbers& layer : layers_) {
      for (std::size_t at = 1; at < layer.size(); ++at)
        points_[layer[at]].x = points_[layer[at - 1]].x + distance(layer[at - 1], layer[at]);
      const int half = layer.empty() ? 0 : points_[layer.back()].x / 2;
      for (const std::size_t point : layer) points_[point].x -= half;
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      for (std::size_t step = 0; step < layers_.size(); ++step)
        settle(layers_[sweep % 2 == 0 ? step : layers_.size() - 1 - step], sweep);
    }
    int left = INT32_MAX;
    int right = INT32_MIN;
    for (const Point& point : points_) {
      left = std::min(left, point.x - point.width / 2);
      right = std::max(right, point.x + point.width / 2);
    }
    for (Point& point : points_) point.x += kMargin - left;
    layout_.width = right - left + 2 * kMargin;
    tops_.resize(layers_.size(), kMargin);
    for (std::size_t rank = 1; rank < layers_.size(); ++rank)
      tops_[rank] = tops_[rank - 1] + heights_[rank - 1] + kBetweenLayers;
    layout_.height = tops_.back() + heights_.back() + kMargin;
    for (std::size_t box = 0; box < box_count_; ++box) {
      const Point& point = points_[box];
      const int room = heights_[point.rank] - point.height;
      layout_.boxes.push_back({point.x, tops_[point.rank] + room / 2});
    }
  }

  // Each point below or above the middle of what it is joined with, as far as its neighbours let
  // it. Pushed from the left and pushed from the right they keep their distances, and so they do
  // in the middle of both.
  void settle(const Numbers& layer, int sweep) {
    std::vector<int> wanted;
    for (const std::size_t point : layer) {
      Numbers joined = sweep % 2 == 0 ? points_[point].above : points_[point].below;
      if (joined.empty()) joined = sweep % 2 == 0 ? points_[point].below : points_[point].above;
      std::int64_t sum = 0;
      for (const std::size_t other : joined) sum += points_[other].x;
      wanted.push_back(joined.empty() ? points_[point].x
                                      : static_cast<int>(sum / static_cast<int>(joined.size())));
    }
    std::vector<int> from_left = wanted;
    for (std::size_t at = 1; at < layer.size(); ++at)
      from_left[at] =
          std::max(from_left[at], from_left[at - 1] + distance(layer[at - 1], layer[at]));
    std::vector<int> from_right = wanted;
    for (std::size_t at = layer.size(); at-- > 1;)
      from_right[at - 1] =
          std::min(from_right[at - 1], from_right[at] - distance(layer[at - 1], layer[at]));
    for (std::size_t at = 0; at < layer.size(); ++at) {
      points_[layer[at]].x = (from_left[at] + from_right[at]) / 2;
      // Halves are cut: the distance to the left must not suffer.
      if (at != 0)
        points_[layer[at]].x = std::max(
            points_[layer[at]].x, points_[layer[at - 1]].x + distance(layer[at - 1], layer[at]));
    }
  }

  // Arrows share the edge of a box, in the order of where they lead.
  std::vector<int> ports(bool at_upper_end) const {
    std::vector<Numbers> of_box(box_count_);
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      if (!is_loop(arrow)) of_box[at_upper_end ? upper(arrow) : lower(arrow)].push_back(arrow);
    }
    std::vector<int> places(arrows_.size(), 0);
    for (std::size_t box = 0; box < box_count_; ++box) {
      Numbers& here = of_box[box];
      const auto other_x = [&](std::size_t arrow) {
        const Numbers& chain = chains_[arrow];
        return points_[at_upper_end ? chain[1] : chain[chain.size() - 2]].x;
      };
      std::stable_sort(here.begin(), here.end(),
                       [&](std::size_t a, std::size_t b) { return other_x(a) < other_x(b); });
      const int left = points_[box].x - points_[box].width / 2;
      for (std::size_t at = 0; at < here.size(); ++at)
        places[here[at]] = left + points_[box].width * static_cast<int>(at + 1) /
                                      static_cast<int>(here.size() + 1);
    }
    return places;
  }

  void draw_paths() {
    const std::vector<int> upper_ports = ports(true);
    const std::vector<int> lower_ports = ports(false);
    for (std::size_t arrow = 0; arrow < arrows_.size(); ++arrow) {
      const Numbers& chain = chains_[arrow];
      if (chain.empty()) continue;
      std::vector<Place>& path = layout_.paths[arrow].points;
      const std::size_t from = chain.front();
      path.push_back({upper_ports[arrow], layout_.boxes[from].y + points_[from].height});
      for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
        const Point& passed = points_[chain[i]];
        path.push_back({passed.x, tops_[passed.rank]});
        path.push_back({passed.x, tops_[passed.rank] + heights_[passed.rank]});
      }
      path.push_back({lower_ports[arrow], layout_.boxes[chain.back()].y});
    }
  }

  const std::vector<LayoutArrow>& arrows_;
  const std::size_t box_count_;
  std::vector<Point> points_;
  std::vector<Numbers> chains_;  // the points of each arrow, from above
  std::vector<Numbers> layers_;
  std::vector<int> heights_;
  std::vector<int> tops_;
  Numbers order_;  // of each point in its layer
  Layout layout_;
};

}  // namespace

Layout lay_out(const std::vector<LayoutBox>& boxes, const std::vector<LayoutArrow>& arrows) {
  return Maker(boxes, arrows).make();
}

}  // namespace holdfast::steps
