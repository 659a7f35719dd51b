// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_sleep.h"

#include "cli/bench_workflows.h"

namespace holdfast::cli {
namespace {

EngineOptions sleepers() {
  EngineOptions options;
  options.modules = {Module::of<BenchSleeper>("bench/sleeper@1")};
  return options;
}

}  // namespace

base::Result<SleepFigures> bench_sleep(const std::string& folder, std::uint64_t count) {
  const Crowd crowd{.options = &sleepers,
                    .start = [](Engine& engine, std::uint64_t id, Engine::Then<Sent> then) {
                      engine.start<BenchSleeper>(id, BenchBegin{id}, {}, std::move(then));
                    }};
  const RecoveredCrowd recovered = TRY(begin_and_kill(folder, crowd, count));
  SleepFigures figures{.crowd = recovered.figures};
  for (std::uint64_t id = 0; id < count; ++id) {
    const auto sleeper = recovered.engine->query<BenchSleeper>(id);
    if (sleeper && sleeper->status == InstanceStatus::kWaiting) ++figures.recovered;
  }
  return figures;
}

}  // namespace holdfast::cli
