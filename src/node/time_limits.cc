// SPDX-License-Identifier: Apache-2.0
#include "node/time_limits.h"

#include <algorithm>
#include <functional>

namespace holdfast::node {
namespace {

// Fewer than these are not worth the walk over the heap.
constexpr std::size_t kFewRemoved = 1024;

}  // namespace

void TimeLimits::add(std::uint64_t at_ns, const base::Hash& intent, const Limited& limited) {
  if (!open_.try_emplace(intent, Open{at_ns, limited}).second) return;
  heap_.push_back({at_ns, intent});
  std::push_heap(heap_.begin(), heap_.end(), std::greater());
}

void TimeLimits::remove(const base::Hash& intent) {
  if (open_.erase(intent) == 0) return;
  drop_removed();
}

std::optional<std::uint64_t> TimeLimits::next_ns() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().at_ns;
}

std::optional<TimeLimits::Over> TimeLimits::take(std::uint64_t now_ns) {
  if (heap_.empty() || heap_.front().at_ns > now_ns) return std::nullopt;
  const auto found = open_.find(heap_.front().intent);
  const Over over{found->first, found->second.limited};
  open_.erase(found);
  drop_removed();
  return over;
}

// One that was removed may have come again, with another time.
bool TimeLimits::is_open(const Limit& limit) const {
  const auto found = open_.find(limit.intent);
  return found != open_.end() && found->second.at_ns == limit.at_ns;
}

void TimeLimits::drop_first() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater());
  heap_.pop_back();
}

void TimeLimits::drop_removed() {
  while (!heap_.empty() && !is_open(heap_.front())) drop_first();
  const std::size_t removed = heap_.size() - open_.size();
  if (removed <= kFewRemoved || removed <= heap_.size() / 2) return;
  std::erase_if(heap_, [this](const Limit& limit) { return !is_open(limit); });
  std::make_heap(heap_.begin(), heap_.end(), std::greater());
}

}  // namespace holdfast::node
