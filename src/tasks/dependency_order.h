// SPDX-License-Identifier: Apache-2.0
// The order of nodes, by what they depend on. Linear but for the heap that keeps the order of the
// document; nothing here is recursive, so a chain may be as long as a graph.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tasks/names.h"

namespace holdfast::tasks {

// For each node the nodes it depends on.
using Dependencies = std::vector<std::vector<NodeIndex>>;

// For each node the nodes that depend on it, in increasing order.
Dependencies reversed(const Dependencies& dependencies);

struct DependencyOrder {
  // Every node after those it depends on; of those that could be next, the one of the lowest rank
  // and then the lowest number.
  std::vector<NodeIndex> order;
  std::vector<NodeIndex> cycle;  // where there is none: nodes of which each depends on the next
                                 // one, and the last on the first
};

// `ranks` are of each node; empty: all are the same.
DependencyOrder order_by_dependencies(const Dependencies& dependencies,
                                      const std::vector<std::uint32_t>& ranks = {});

// A node that must be upstream of another: `user` depends on `used`, perhaps through others.
struct UpstreamQuery {
  NodeIndex user = 0;
  NodeIndex used = 0;
};

// Which queries do not hold, as positions in `queries`, in increasing order. The numbers of nodes
// are those of an order in which dependencies come first. 64 used nodes are looked for in one pass
// over the nodes between them and their users, so even a query from every node to a far one stays
// fast.
std::vector<std::size_t> find_not_upstream(const Dependencies& dependencies,
                                           std::span<const UpstreamQuery> queries);

}  // namespace holdfast::tasks
