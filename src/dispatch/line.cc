// SPDX-License-Identifier: Apache-2.0
#include "dispatch/line.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace holdfast::dispatch {

Rank rank_of(const Turn& since, std::int64_t priority, std::uint64_t age_ns) noexcept {
  // Times are below 2^63 ns until the year 2262; priorities are at most a million points.
  return {static_cast<std::int64_t>(since.ns) - priority * static_cast<std::int64_t>(age_ns),
          since.number};
}

void Line::add(GraphIndex graph, const Order& order, const Turn& now, const Turn& served,
               std::uint64_t age_ns) {
  const auto [at, is_new] = flows_.try_emplace(graph);
  Flow& flow = at->second;
  if (is_new) flow.since = std::max(now, served);
  CHECK(flow.tasks.insert(order).second);
  ++size_;
  if (is_new || *flow.tasks.begin() == order) rank_again(graph, flow, age_ns);
}

void Line::remove(GraphIndex graph, const Order& order, std::uint64_t age_ns) {
  const auto at = flows_.find(graph);
  CHECK(at != flows_.end() && at->second.tasks.erase(order) == 1);
  --size_;
  if (!at->second.tasks.empty()) return rank_again(graph, at->second, age_ns);
  by_rank_.erase({at->second.rank, graph});
  flows_.erase(at);
}

Line::Head Line::head() const {
  const auto& [rank, graph] = *by_rank_.begin();
  return {rank, graph, *flows_.at(graph).tasks.begin()};
}

bool Line::refresh(GraphIndex graph, const Turn& served, std::uint64_t age_ns) {
  const auto at = flows_.find(graph);
  if (at == flows_.end() || at->second.since >= served) return false;
  at->second.since = served;
  rank_again(graph, at->second, age_ns);
  return true;
}

std::size_t Line::count_before(GraphIndex graph, const Order& order) const {
  const auto own = flows_.find(graph);
  if (own == flows_.end()) return 0;
  const auto place = own->second.tasks.find(order);
  const auto before = static_cast<std::size_t>(std::distance(own->second.tasks.begin(), place));
  std::size_t all = before;
  for (const auto& [rank, other] : by_rank_) {
    if (other == graph) continue;
    // One of theirs for each of ours, and one more if it is their turn first.
    const std::size_t turns = before + (rank < own->second.rank ? 1 : 0);
    all += std::min(turns, flows_.at(other).tasks.size());
  }
  return all;
}

void Line::rank_again(GraphIndex graph, Flow& flow, std::uint64_t age_ns) {
  by_rank_.erase({flow.rank, graph});
  flow.rank = rank_of(flow.since, flow.tasks.begin()->priority, age_ns);
  by_rank_.insert({flow.rank, graph});
}

}  // namespace holdfast::dispatch
