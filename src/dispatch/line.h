// SPDX-License-Identifier: Apache-2.0
// Line: the waiting tasks with one demand, in the order in which they are to be placed.
//
// Graphs take turns: each graph has a flow of its own, and the flow that waits longest for its turn
// comes first. Waiting begins when the flow gets its first task, and again when a task of its graph
// was placed, so a graph of 100 000 tasks delays a small one by one task and not by all of them.
//
// A priority point is worth a fixed time of waiting (age_ns): a flow with a higher priority comes
// first until one with a lower priority has waited that much longer. So nothing starves, and an
// order that holds once holds for ever: no clock is needed to compare.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "dispatch/bits.h"
#include "dispatch/demand.h"

namespace holdfast::dispatch {

using GraphIndex = std::uint32_t;
using LineIndex = std::uint32_t;

// Where a task stands among those of its graph.
struct Order {
  std::int64_t priority = 0;  // higher first
  std::uint32_t position = 0;
  std::uint64_t arrival = 0;  // unique
  base::Hash intent;

  friend std::strong_ordering operator<=>(const Order& a, const Order& b) noexcept {
    if (const auto by = b.priority <=> a.priority; by != 0) return by;
    if (const auto by = a.position <=> b.position; by != 0) return by;
    return a.arrival <=> b.arrival;
  }
  friend bool operator==(const Order& a, const Order& b) noexcept { return a.arrival == b.arrival; }
};

// A moment from which a flow waits. Turns are numbered, so no two moments are the same.
struct Turn {
  std::uint64_t ns = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};

// Smaller is earlier.
struct Rank {
  std::int64_t key = 0;  // when its waiting began, moved back by its priority
  std::uint64_t number = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

Rank rank_of(const Turn& since, std::int64_t priority, std::uint64_t age_ns) noexcept;

class Line {
 public:
  explicit Line(Demand demand) : demand_(std::move(demand)) {}

  const Demand& demand() const noexcept { return demand_; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  // `served`: when a task of this graph was last placed.
  void add(GraphIndex graph, const Order& order, const Turn& now, const Turn& served,
           std::uint64_t age_ns);
  void remove(GraphIndex graph, const Order& order, std::uint64_t age_ns);

  struct Head {
    Rank rank;
    GraphIndex graph = 0;
    Order task;
  };
  // The first of the first flow, by the ranks that are known. Not for an empty line.
  Head head() const;

  // The rank of a flow after its graph was served at `served`. True: it has changed, and `head` may
  // be another one.
  bool refresh(GraphIndex graph, const Turn& served, std::uint64_t age_ns);

  // How many tasks are placed before this one if nothing else comes.
  std::size_t count_before(GraphIndex graph, const Order& order) const;

  Bits fitting;  // workers whose offer fits, by number; the dispatcher keeps it

 private:
  struct Flow {
    std::set<Order> tasks;
    Turn since;
    Rank rank;
  };
  void rank_again(GraphIndex graph, Flow& flow, std::uint64_t age_ns);

  Demand demand_;
  std::map<GraphIndex, Flow> flows_;
  std::set<std::pair<Rank, GraphIndex>> by_rank_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::dispatch
