// SPDX-License-Identifier: Apache-2.0
#include "tasks/dependency_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

namespace holdfast::tasks {
namespace {

// A cycle among the nodes that could not be put in order: each of them depends on another such
// node, so following those dependencies must come back to a node that was passed.
std::vector<NodeIndex> find_cycle(const Dependencies& dependencies,
                                  const std::vector<std::uint32_t>& waiting) {
  const auto first = std::find_if(waiting.begin(), waiting.end(), [](auto n) { return n > 0; });
  auto node = static_cast<NodeIndex>(first - waiting.begin());
  std::vector<std::uint32_t> passed_at(dependencies.size(), 0);  // 0: not passed
  std::vector<NodeIndex> way;
  while (passed_at[node] == 0) {
    way.push_back(node);
    passed_at[node] = static_cast<std::uint32_t>(way.size());
    const auto& next = dependencies[node];
    node = *std::find_if(next.begin(), next.end(), [&](NodeIndex n) { return waiting[n] > 0; });
  }
  way.erase(way.begin(), way.begin() + (passed_at[node] - 1));
  return way;
}

}  // namespace

Dependencies reversed(const Dependencies& dependencies) {
  Dependencies dependents(dependencies.size());
  for (NodeIndex node = 0; node < dependencies.size(); ++node) {
    for (const NodeIndex dependency : dependencies[node]) dependents[dependency].push_back(node);
  }
  return dependents;
}

DependencyOrder order_by_dependencies(const Dependencies& dependencies,
                                      const std::vector<std::uint32_t>& ranks) {
  const Dependencies dependents = reversed(dependencies);
  std::vector<std::uint32_t> waiting(dependencies.size());
  using Place = std::pair<std::uint32_t, NodeIndex>;
  const auto place_of = [&](NodeIndex node) {
    return Place(ranks.empty() ? 0 : ranks[node], node);
  };
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  for (NodeIndex node = 0; node < dependencies.size(); ++node) {
    waiting[node] = static_cast<std::uint32_t>(dependencies[node].size());
    if (waiting[node] == 0) next.push(place_of(node));
  }
  DependencyOrder result;
  result.order.reserve(dependencies.size());
  while (!next.empty()) {
    const NodeIndex node = next.top().second;
    next.pop();
    result.order.push_back(node);
    for (const NodeIndex dependent : dependents[node]) {
      if (--waiting[dependent] == 0) next.push(place_of(dependent));
    }
  }
  if (result.order.size() < dependencies.size()) {
    result.order.clear();
    result.cycle = find_cycle(dependencies, waiting);
  }
  return result;
}

std::vector<std::size_t> find_not_upstream(const Dependencies& dependencies,
                                           std::span<const UpstreamQuery> queries) {
  constexpr std::size_t kAtOnce = 64;
  std::vector<std::size_t> by_used(queries.size());
  for (std::size_t i = 0; i < queries.size(); ++i) by_used[i] = i;
  std::sort(by_used.begin(), by_used.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(queries[a].used, a) < std::pair(queries[b].used, b);
  });
  std::vector<std::size_t> failed;
  std::vector<std::uint64_t> reached(dependencies.size());  // a bit for each used node of the pass
  for (std::size_t begin = 0; begin < by_used.size();) {
    // The queries of this pass, and the bit of each one's used node.
    std::vector<std::pair<std::size_t, std::size_t>> pass;
    NodeIndex last_user = 0;
    const NodeIndex first_used = queries[by_used[begin]].used;
    std::size_t bits = 0;
    for (; begin < by_used.size(); ++begin) {
      const UpstreamQuery& query = queries[by_used[begin]];
      const bool is_new = pass.empty() || queries[pass.back().first].used != query.used;
      if (is_new && bits == kAtOnce) break;
      if (is_new) ++bits;
      pass.emplace_back(by_used[begin], bits - 1);
      last_user = std::max(last_user, query.user);
    }
    // `first_used` is the smallest number, so nothing before it can be reached.
    std::fill(reached.begin() + first_used, reached.begin() + std::max(last_user + 1, first_used),
              0);
    std::size_t marked = 0;
    for (NodeIndex node = first_used; node <= last_user; ++node) {
      std::uint64_t mask = 0;
      for (const NodeIndex dependency : dependencies[node]) {
        if (dependency >= first_used) mask |= reached[dependency];
      }
      for (; marked < pass.size() && queries[pass[marked].first].used <= node; ++marked) {
        if (queries[pass[marked].first].used == node)
          mask |= std::uint64_t{1} << pass[marked].second;
      }
      reached[node] = mask;
    }
    for (const auto& [query, bit] : pass) {
      const auto [user, used] = queries[query];
      if (user <= used || (reached[user] >> bit & 1) == 0) failed.push_back(query);
    }
  }
  std::sort(failed.begin(), failed.end());
  return failed;
}

}  // namespace holdfast::tasks
