// SPDX-License-Identifier: Apache-2.0
// What one more event costs a run of a step workflow, at its beginning and at its end.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "steps/testing_long_run.h"

namespace {

using holdfast::steps::testing::LongRun;

void one_event(benchmark::State& bench) {
  LongRun run;
  for (std::int64_t i = 0; i < bench.range(0); ++i) run.turn();
  for (auto _ : bench) run.turn();
  bench.counters["state_bytes"] = static_cast<double>(run.state_bytes());
}
BENCHMARK(one_event)->Arg(0)->Arg(9'000)->Iterations(1000);

}  // namespace

// What bench/instructions counts.
__attribute__((noinline)) void once(LongRun& run) {
  for (int i = 0; i < 1000; ++i) run.turn();
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--once") {
    LongRun run;
    for (int left = std::atoi(argv[2]); left > 0; --left) run.turn();
    once(run);
    return std::printf("%zu\n", run.state_bytes()), 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
