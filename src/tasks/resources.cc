// SPDX-License-Identifier: Apache-2.0
#include "tasks/resources.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tasks/amounts.h"
#include "tasks/limits.h"
#include "tasks/names.h"

namespace holdfast::tasks {
namespace {

constexpr std::array<std::string_view, 8> kResourceKeys{
    "hardware", "cpu", "memory", "gpu", "labels", "recipe", "queue", "estimatedLoad"};
constexpr std::array<std::string_view, 3> kHardwareKeys{"cpu", "memory", "gpu"};
constexpr std::array<std::string_view, 3> kGpuKeys{"type", "count", "memory"};

class ResourceReader {
 public:
  ResourceReader(Scene& scene, Resources& resources) : scene_(scene), resources_(resources) {}

  void read(View map, const Trail& where) {
    if (!scene_.expect_map(map, where)) return;
    scene_.expect_keys(map, where, kResourceKeys);
    if (const auto hardware = member(map, "hardware")) {
      const Trail inside = where.key("hardware");
      if (scene_.expect_map(*hardware, inside)) {
        scene_.expect_keys(*hardware, inside, kHardwareKeys);
        for (const std::string_view key : kHardwareKeys) {
          if (member(*hardware, key) && member(map, key))
            scene_.refuse(where.key(key), "'" + std::string(key) + "' is in 'hardware' too");
        }
        read_hardware(*hardware, inside);
      }
    }
    read_hardware(map, where);
    if (const auto labels = member(map, "labels")) read_labels(*labels, where.key("labels"));
    resources_.recipe = scene_.literal_text(map, "recipe", where).value_or("");
    if (const auto queue = scene_.literal_text(map, "queue", where)) {
      if (const auto problem = label_problem(*queue)) scene_.refuse(where.key("queue"), *problem);
      if (*queue != kDefaultQueue) resources_.queue = *queue;
    }
    if (const auto load = member(map, "estimatedLoad")) {
      const auto number = load->nat();
      if (!number || *number > std::numeric_limits<std::uint32_t>::max())
        scene_.refuse(where.key("estimatedLoad"), "expected a whole number from 0");
      resources_.estimated_load = number.value_or(0);
    }
  }

 private:
  void read_hardware(View map, const Trail& where) {
    if (const auto cpu = member(map, "cpu")) {
      const auto milli = cpu_milli_of(*cpu);
      if (!milli)
        scene_.refuse(where.key("cpu"), "expected a number of processors, such as 2, 0.5 or 500m");
      resources_.cpu_milli = milli.value_or(0);
    }
    if (const auto memory = read_memory(map, where)) resources_.memory_bytes = *memory;
    if (const auto gpu = member(map, "gpu")) read_gpu(*gpu, where.key("gpu"));
  }

  std::optional<std::uint64_t> read_memory(View map, const Trail& where) {
    const auto memory = member(map, "memory");
    if (!memory) return std::nullopt;
    const auto bytes = memory_of(*memory);
    if (!bytes)
      scene_.refuse(where.key("memory"), "expected an amount of memory, such as 256Mi or 16GB");
    return bytes;
  }

  void read_gpu(View map, const Trail& where) {
    if (!scene_.expect_map(map, where)) return;
    scene_.expect_keys(map, where, kGpuKeys);
    Gpu gpu;
    gpu.type = scene_.literal_text(map, "type", where).value_or("");
    if (const auto count = member(map, "count")) {
      const auto number = count_of(*count);
      if (!number || *number > kMaxDevices)
        scene_.refuse(where.key("count"), "expected a number of devices, from 0 to 4096");
      gpu.count = static_cast<std::uint32_t>(std::min(number.value_or(0), kMaxDevices));
    }
    gpu.memory_bytes = read_memory(map, where).value_or(0);
    if (gpu.count > 0) resources_.gpu = std::move(gpu);
  }

  void read_labels(View map, const Trail& where) {
    if (!scene_.expect_map(map, where)) return;
    if (map.size() > kMaxLabels)
      return scene_.refuse_too_large(
          where, "there are more than " + std::to_string(kMaxLabels) + " labels");
    for (const auto& [key, value] : map.entries()) {
      const std::string_view name = key.text().value_or("");
      const Trail inside = where.key(name);
      if (const auto problem = label_problem(name)) scene_.refuse(inside, *problem);
      if (auto text = scene_.as_literal_text(value, inside))
        resources_.labels.emplace_back(name, std::move(*text));
    }
    std::sort(resources_.labels.begin(), resources_.labels.end());
  }

  Scene& scene_;
  Resources& resources_;
};

}  // namespace

Resources read_resources(View spec, Scene& scene) {
  Resources resources;
  const Trail root("");
  if (const auto map = member(spec, "resources"))
    ResourceReader(scene, resources).read(*map, root.key("resources"));
  return resources;
}

}  // namespace holdfast::tasks
