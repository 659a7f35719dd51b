// SPDX-License-Identifier: Apache-2.0
#include "dispatch/fleet.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace holdfast::dispatch {
namespace {

template <class T>
void take_off(T& from, std::uint64_t amount) {
  CHECK(from >= amount);
  from = static_cast<T>(from - amount);
}

}  // namespace

WorkerIndex Fleet::put(std::string_view id, std::string_view node, std::string_view name,
                       Offer offer, Mode mode) {
  WorkerIndex index = 0;
  if (const auto known = by_id_.find(id); known != by_id_.end()) {
    index = known->second;
  } else if (const auto spare = reusable()) {
    index = *spare;
    by_id_.erase(workers_[index].id);
    workers_[index] = Candidate();
    by_id_.emplace(id, index);
  } else {
    index = static_cast<WorkerIndex>(workers_.size());
    workers_.emplace_back();
    by_id_.emplace(id, index);
  }
  Candidate& worker = workers_[index];
  worker.id = id;
  worker.node = node;
  worker.name = name;
  worker.offer = std::move(offer);
  worker.mode = mode;
  refresh(index);
  return index;
}

std::optional<WorkerIndex> Fleet::reusable() const {
  if (workers_.size() < most_) return std::nullopt;
  for (const auto& [id, index] : by_id_) {
    const Candidate& worker = workers_[index];
    if ((worker.mode == Mode::kLost || worker.mode == Mode::kLeft) && worker.used_slots == 0)
      return index;
  }
  return std::nullopt;
}

void Fleet::set_mode(WorkerIndex worker, Mode mode) {
  workers_[worker].mode = mode;
  refresh(worker);
}

void Fleet::set_live(WorkerIndex worker, bool is_live) {
  workers_[worker].is_live = is_live;
  refresh(worker);
}

void Fleet::set_want(WorkerIndex worker, std::uint32_t want) {
  workers_[worker].want = want;
  refresh(worker);
}

void Fleet::set_recipes(WorkerIndex worker, std::optional<RecipeState> recipes) {
  workers_[worker].recipes = std::move(recipes);
  refresh(worker);
}

void Fleet::set_asked_for(WorkerIndex worker, std::string recipe) {
  workers_[worker].asked_for = std::move(recipe);
}

void Fleet::use(WorkerIndex worker, const Demand& demand,
                const std::vector<std::uint32_t>& devices) {
  Candidate& used = workers_[worker];
  ++used.used_slots;
  if (!demand.resources.recipe.empty()) ++used.used_recipes;
  used.used_cpu_milli += demand.resources.cpu_milli;
  used.used_memory_bytes += demand.resources.memory_bytes;
  used.used_devices.insert(used.used_devices.end(), devices.begin(), devices.end());
  std::ranges::sort(used.used_devices);
  refresh(worker);
}

void Fleet::release(WorkerIndex worker, const Demand& demand,
                    const std::vector<std::uint32_t>& devices) {
  Candidate& used = workers_[worker];
  take_off(used.used_slots, 1);
  if (!demand.resources.recipe.empty()) take_off(used.used_recipes, 1);
  take_off(used.used_cpu_milli, demand.resources.cpu_milli);
  take_off(used.used_memory_bytes, demand.resources.memory_bytes);
  for (const std::uint32_t device : devices) {
    const auto at = std::ranges::lower_bound(used.used_devices, device);
    CHECK(at != used.used_devices.end() && *at == device);
    used.used_devices.erase(at);
  }
  refresh(worker);
}

void Fleet::chosen(WorkerIndex worker, std::uint64_t number) {
  Candidate& used = workers_[worker];
  used.last_chosen = number;
  if (used.want != 0) --used.want;
  refresh(worker);
}

std::optional<WorkerIndex> Fleet::find(std::string_view id) const {
  const auto known = by_id_.find(id);
  if (known == by_id_.end()) return std::nullopt;
  return known->second;
}

void Fleet::refresh(WorkerIndex index) {
  const Candidate& worker = workers_[index];
  working_.set(index, worker.may_work());
  asking_.set(index,
              worker.may_work() && worker.want != 0 && worker.used_slots < worker.offer.slots);
  swappers_.set(index, worker.may_work() && worker.recipes && worker.recipes->can_swap);
}

}  // namespace holdfast::dispatch
