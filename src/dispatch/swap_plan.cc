// SPDX-License-Identifier: Apache-2.0
// Which workers are asked to swap to another recipe. The plan is made anew each time from what
// waits and from what workers say, so nothing has to be taken back.
#include <algorithm>
#include <tuple>
#include <utility>

#include "dispatch/dispatcher.h"

namespace holdfast::dispatch {

void Dispatcher::set_recipes(std::string_view worker, std::optional<RecipeState> recipes) {
  const auto index = fleet_.find(worker);
  if (!index || fleet_.at(*index).recipes == recipes) return;
  fleet_.set_recipes(*index, std::move(recipes));
  freed_.set(*index, true);
}

// Whether a worker that fits serves the recipe now, free or not.
bool Dispatcher::is_served(const Line& line) const {
  const std::string& recipe = line.demand().resources.recipe;
  for (auto at = first_in_both(line.fitting, fleet_.working(), 0); at;
       at = first_in_both(line.fitting, fleet_.working(), *at + 1)) {
    if (fleet_.at(static_cast<WorkerIndex>(*at)).serves(recipe)) return true;
  }
  return false;
}

// Whether a task waits that it could run without a swap.
bool Dispatcher::is_needed(WorkerIndex worker) const {
  const Candidate& candidate = fleet_.at(worker);
  if (candidate.recipes->serving.empty()) return false;
  std::size_t looks = 0;
  for (const LineIndex index : with_recipe_) {
    if (++looks > kMostSwapDemands) break;
    const Line& line = lines_.at(index).line;
    if (line.fitting.has(worker) && candidate.serves(line.demand().resources.recipe)) return true;
  }
  return false;
}

// The worker to ask for a swap. Nothing: no worker can, or one swaps to this recipe already.
std::optional<WorkerIndex> Dispatcher::swapper_for(
    const Line& line, const std::map<WorkerIndex, std::string>& asked) const {
  const std::string& recipe = line.demand().resources.recipe;
  std::optional<WorkerIndex> best;
  const auto cost = [&](WorkerIndex index) {
    const Candidate& worker = fleet_.at(index);
    return std::tuple(!worker.recipes->problem.empty(), worker.used_recipes,
                      worker.asked_for != recipe, worker.last_chosen, index);
  };
  for (auto at = first_in_both(line.fitting, fleet_.swappers(), 0); at;
       at = first_in_both(line.fitting, fleet_.swappers(), *at + 1)) {
    const auto index = static_cast<WorkerIndex>(*at);
    const Candidate& worker = fleet_.at(index);
    const auto known = asked.find(index);
    if (worker.recipes->swapping == recipe || (known != asked.end() && known->second == recipe))
      return std::nullopt;
    if (known != asked.end() || !worker.recipes->swapping.empty() || is_needed(index)) continue;
    if (!best || cost(index) < cost(*best)) best = index;
  }
  return best;
}

std::vector<std::string> Dispatcher::plan_swaps() {
  std::map<WorkerIndex, std::string> asked;
  if (!fleet_.swappers().none()) {
    // The demand that has waited longest chooses first.
    std::map<std::pair<std::uint64_t, std::uint64_t>, LineIndex> waiting;
    for (const LineIndex index : with_recipe_) {
      if (waiting.size() == kMostSwapDemands) break;
      waiting.emplace(lines_.at(index).arrivals.begin()->first, index);
    }
    for (const auto& [arrival, index] : waiting) {
      const Line& line = lines_.at(index).line;
      if (is_served(line)) continue;
      if (const auto worker = swapper_for(line, asked))
        asked.emplace(*worker, line.demand().resources.recipe);
    }
  }
  std::vector<std::string> changed;
  const auto tell = [&](WorkerIndex index, const std::string& recipe) {
    if (fleet_.at(index).asked_for == recipe) return;
    fleet_.set_asked_for(index, recipe);
    changed.push_back(fleet_.at(index).id);
  };
  for (const WorkerIndex index : asked_)
    if (!asked.contains(index)) tell(index, "");
  asked_.clear();
  for (const auto& [index, recipe] : asked) {
    tell(index, recipe);
    asked_.insert(index);
  }
  return changed;
}

}  // namespace holdfast::dispatch
