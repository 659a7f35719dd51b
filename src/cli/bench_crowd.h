// SPDX-License-Identifier: Apache-2.0
// A crowd: very many workflows that wait, begun by a process that is then killed. What they cost
// there, and an engine that has them again. `bench sleep` and `bench parked` differ in what they
// wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "holdfast/engine.h"

namespace holdfast::cli {

struct Crowd {
  // What the engine is opened with, but for its folder.
  std::function<EngineOptions()> options;

  // Begins one of them.
  std::function<void(Engine& engine, std::uint64_t id, Engine::Then<Sent> then)> start;

  // Returns when nothing of them is under way any more; nothing: that is so when they have begun.
  std::function<std::optional<Error>(Engine& engine)> settle = {};
};

struct CrowdFigures {
  double resident_bytes_each = 0;  // in the process that began them
  double disk_bytes_each = 0;      // of its world, when it was killed
  double recovery_ms = 0;          // until the world was open again
};

struct RecoveredCrowd {
  CrowdFigures figures;
  std::unique_ptr<Engine> engine;
};

// Begins so many in a process of their own, which kills itself when they wait, and opens their
// world again. To be called while this process has one thread: it forks.
base::Result<RecoveredCrowd> begin_and_kill(const std::string& folder, const Crowd& crowd,
                                            std::uint64_t count);

}  // namespace holdfast::cli
