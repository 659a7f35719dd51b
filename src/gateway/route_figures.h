// SPDX-License-Identifier: Apache-2.0
// RouteFigures: how often each route was answered with what status, and how long that took.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gateway/route.h"
#include "holdfast/histogram.h"

namespace holdfast::gateway {

struct RouteFigures {
  std::map<unsigned, std::uint64_t> by_status;
  Histogram time_ns{kTimeBounds};
};

// One for each route, and a last one for what was none.
class AllRouteFigures {
 public:
  AllRouteFigures() : figures_(routes().size() + 1) {}

  // Null: it was no route.
  void add(const Route* route, unsigned status, std::uint64_t time_ns) {
    RouteFigures& figures = figures_[index_of(route)];
    ++figures.by_status[status];
    figures.time_ns.add(time_ns);
  }

  const RouteFigures& of(const Route* route) const { return figures_[index_of(route)]; }

 private:
  std::size_t index_of(const Route* route) const {
    return route == nullptr ? figures_.size() - 1
                            : static_cast<std::size_t>(route - routes().data());
  }

  std::vector<RouteFigures> figures_;
};

}  // namespace holdfast::gateway
