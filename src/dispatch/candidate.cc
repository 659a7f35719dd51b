// SPDX-License-Identifier: Apache-2.0
#include "dispatch/candidate.h"

#include <algorithm>

namespace holdfast::dispatch {
namespace {

bool has(const std::vector<std::string>& sorted, const std::string& text) {
  return std::ranges::binary_search(sorted, text);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// People write A100 and a100. "any" is FlowMesh's word for no type.
bool fits(const tasks::Gpu& gpu, const Device& device) {
  if (device.memory_bytes < gpu.memory_bytes) return false;
  return gpu.type.empty() || equals_ignoring_case(gpu.type, "any") ||
         equals_ignoring_case(gpu.type, device.type);
}

bool has_label(const Offer& offer, const std::pair<std::string, std::string>& label) {
  return std::ranges::binary_search(offer.labels, label);
}

std::size_t fitting_devices(const Demand& demand, const Candidate& worker) {
  const auto& gpu = demand.resources.gpu;
  return static_cast<std::size_t>(std::ranges::count_if(
      worker.offer.devices, [&](const Device& device) { return fits(*gpu, device); }));
}

std::string amount_of_cpu(std::uint64_t milli) {
  if (milli % 1000 == 0) return std::to_string(milli / 1000);
  return std::to_string(milli) + "m";
}

std::string amount_of_memory(std::uint64_t bytes) {
  constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
  if (bytes >= kMi && bytes % kMi == 0) return std::to_string(bytes / kMi) + "Mi";
  return std::to_string(bytes) + " bytes";
}

std::string devices_text(const tasks::Gpu& gpu) {
  std::string text = std::to_string(gpu.count) + (gpu.count == 1 ? " GPU" : " GPUs");
  if (!gpu.type.empty()) text += " of type " + gpu.type;
  if (gpu.memory_bytes != 0) text += " with " + amount_of_memory(gpu.memory_bytes);
  return text;
}

std::string mode_text(Mode mode) {
  switch (mode) {
    case Mode::kActive: return "is active";
    case Mode::kDraining: return "is draining";
    case Mode::kCordoned: return "is cordoned";
    case Mode::kLost: return "is lost";
    case Mode::kLeft: break;
  }
  return "has left";
}

std::string joined(const std::vector<std::string>& texts) {
  constexpr std::size_t kShown = 8;
  std::string all;
  for (std::size_t i = 0; i < texts.size() && i < kShown; ++i)
    all.append(i == 0 ? "" : ", ").append(texts[i]);
  if (texts.size() > kShown) all += ", ...";
  return all;
}

std::string missing_label(const Demand& demand, const Candidate& worker) {
  for (const auto& label : demand.resources.labels)
    if (!has_label(worker.offer, label)) return label.first + "=" + label.second;
  return "";
}

std::string recipe_text(const std::string& needed, const Candidate& worker) {
  const RecipeState state = worker.recipes.value_or(RecipeState());
  if (!state.swapping.empty()) return "is swapping to the recipe " + state.swapping;
  const std::string serves =
      state.serving.empty() ? "serves no recipe now" : "serves the recipe " + joined(state.serving);
  if (!state.problem.empty()) return serves + "; its last swap was not done: " + state.problem;
  if (worker.asked_for == needed) return serves + ", and is asked to swap to " + needed;
  if (state.can_swap) return serves + "; it swaps when no work for that waits";
  return serves + ", and does not swap";
}

}  // namespace

bool Candidate::serves(const std::string& recipe) const {
  return has(recipes ? recipes->serving : offer.recipes, recipe);
}

Misfit misfit_of_offer(const Demand& demand, const Candidate& worker) {
  const Offer& offer = worker.offer;
  const tasks::Resources& needed = demand.resources;
  const auto is_selected = [&](const std::string& each) {
    return each == worker.name || each == worker.id;
  };
  if (!demand.selected.empty() && std::ranges::none_of(demand.selected, is_selected))
    return Misfit::kSelected;
  if (!has(offer.queues, demand.queue)) return Misfit::kQueue;
  if (!offer.has_any_type && !has(offer.types, demand.type)) return Misfit::kType;
  const bool has_labels = std::ranges::all_of(
      needed.labels, [&](const auto& label) { return has_label(offer, label); });
  if (!has_labels) return Misfit::kLabel;
  if (!needed.recipe.empty() && !has(offer.recipes, needed.recipe)) return Misfit::kRecipe;
  if (needed.cpu_milli > offer.cpu_milli) return Misfit::kCpu;
  if (needed.memory_bytes > offer.memory_bytes) return Misfit::kMemory;
  if (needed.gpu && fitting_devices(demand, worker) < needed.gpu->count) return Misfit::kDevices;
  if (std::ranges::find(demand.avoided, worker.id) != demand.avoided.end()) return Misfit::kAvoided;
  return Misfit::kNone;
}

Misfit misfit_of(const Demand& demand, const Candidate& worker) {
  if (worker.mode != Mode::kActive) return Misfit::kMode;
  if (!worker.is_live) return Misfit::kSilent;
  return misfit_of_offer(demand, worker);
}

Lack lack_of(const Demand& demand, const Candidate& worker) {
  const Offer& offer = worker.offer;
  const tasks::Resources& needed = demand.resources;
  // An offer that became smaller may have more in use than there is.
  const auto is_free = [](std::uint64_t wanted, std::uint64_t all, std::uint64_t used) {
    return wanted == 0 || (used <= all && wanted <= all - used);
  };
  if (!needed.recipe.empty() && !worker.serves(needed.recipe)) return Lack::kRecipe;
  if (worker.used_slots >= offer.slots) return Lack::kSlots;
  if (!is_free(needed.cpu_milli, offer.cpu_milli, worker.used_cpu_milli)) return Lack::kCpu;
  if (!is_free(needed.memory_bytes, offer.memory_bytes, worker.used_memory_bytes))
    return Lack::kMemory;
  if (needed.gpu && pick_devices(demand, worker).size() < needed.gpu->count) return Lack::kDevices;
  if (worker.want == 0) return Lack::kPoll;
  return Lack::kNone;
}

std::vector<std::uint32_t> pick_devices(const Demand& demand, const Candidate& worker) {
  std::vector<std::uint32_t> picked;
  const auto& gpu = demand.resources.gpu;
  if (!gpu || gpu->count == 0) return picked;
  std::vector<const Device*> free;
  for (const Device& device : worker.offer.devices) {
    if (fits(*gpu, device) && !std::ranges::binary_search(worker.used_devices, device.index))
      free.push_back(&device);
  }
  std::ranges::stable_sort(free, {}, &Device::memory_bytes);
  if (free.size() > gpu->count) free.resize(gpu->count);
  for (const Device* device : free) picked.push_back(device->index);
  std::ranges::sort(picked);
  return picked;
}

std::string describe(Misfit misfit, const Demand& demand, const Candidate& worker) {
  const tasks::Resources& needed = demand.resources;
  const Offer& offer = worker.offer;
  switch (misfit) {
    case Misfit::kNone: return "fits";
    case Misfit::kMode: return mode_text(worker.mode);
    case Misfit::kSilent: return "was not heard within its TTL";
    case Misfit::kSelected: return "is not one of the selected workers: " + joined(demand.selected);
    case Misfit::kQueue:
      return "does not serve the queue " + demand.queue + ", only " + joined(offer.queues);
    case Misfit::kType:
      return "does not run the task type " + demand.type + ", only " + joined(offer.types);
    case Misfit::kLabel: return "does not have the label " + missing_label(demand, worker);
    case Misfit::kRecipe: return "does not serve the recipe " + needed.recipe;
    case Misfit::kCpu:
      return "has " + amount_of_cpu(offer.cpu_milli) + " processors; the task needs " +
             amount_of_cpu(needed.cpu_milli);
    case Misfit::kMemory:
      return "has " + amount_of_memory(offer.memory_bytes) + " of memory; the task needs " +
             amount_of_memory(needed.memory_bytes);
    case Misfit::kDevices:
      return "has " + std::to_string(fitting_devices(demand, worker)) +
             " GPUs that fit; the task needs " + devices_text(*needed.gpu);
    case Misfit::kAvoided: break;
  }
  return "has failed this task before";
}

std::string describe(Lack lack, const Demand& demand, const Candidate& worker) {
  switch (lack) {
    case Lack::kNone: return "is free";
    case Lack::kRecipe: return recipe_text(demand.resources.recipe, worker);
    case Lack::kSlots:
      return "runs " + std::to_string(worker.used_slots) + " tasks and has " +
             std::to_string(worker.offer.slots) + " slots";
    case Lack::kCpu:
      return "has " + amount_of_cpu(worker.used_cpu_milli) + " of " +
             amount_of_cpu(worker.offer.cpu_milli) + " processors in use";
    case Lack::kMemory:
      return "has " + amount_of_memory(worker.used_memory_bytes) + " of " +
             amount_of_memory(worker.offer.memory_bytes) + " of memory in use";
    case Lack::kDevices:
      return "has too few free GPUs; the task needs " + devices_text(*demand.resources.gpu);
    case Lack::kPoll: break;
  }
  return "is not asking for work";
}

}  // namespace holdfast::dispatch
