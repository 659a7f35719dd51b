// SPDX-License-Identifier: Apache-2.0
// Resources: what a task needs of the worker that runs it (`spec.resources`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/scene.h"

namespace holdfast::tasks {

struct Gpu {
  std::string type;  // empty: any
  std::uint32_t count = 1;
  std::uint64_t memory_bytes = 0;  // of each; 0: any

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// Of tasks that name no queue, and of workers that do not say which ones they serve.
inline constexpr std::string_view kDefaultQueue = "default";

struct Resources {
  std::uint64_t cpu_milli = 0;     // 0: not said
  std::uint64_t memory_bytes = 0;  // 0: not said
  std::optional<Gpu> gpu;
  std::vector<std::pair<std::string, std::string>> labels;  // in order of keys
  std::string recipe;                                       // empty: any
  std::string queue;                                        // empty: the default one
  std::uint64_t estimated_load = 0;

  friend bool operator==(const Resources&, const Resources&) = default;
};

// Reads `resources` of a spec. `cpu`, `memory` and `gpu` may stand in `resources.hardware` or in
// `resources` itself, but not in both.
Resources read_resources(View spec, Scene& scene);

}  // namespace holdfast::tasks
