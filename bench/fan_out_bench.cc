// SPDX-License-Identifier: Apache-2.0
// What one result costs a run that has fanned out, in a world without a journal: reduced, with its
// record. Prints the time of a result for fan-outs of several widths, in the middle of each, and
// the time of all of it; then how wide a fan-out of such elements may be. `--once N` does a hundred
// and twenty-eight results of a fan-out of N inside once(), for bench/instructions to count.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "steps/testing_wide_run.h"

namespace {

using holdfast::steps::testing::WideRun;
using Clock = std::chrono::steady_clock;

// Enough elements that parts of each kind are read and written twice.
constexpr int kResults = 128;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Several elements run, and nothing has failed.
bool fits(std::size_t elements) {
  WideRun run(elements);
  return !run.cell().terminal() && run.running() > 1;
}

std::size_t widest() {
  std::size_t fitting = 2;
  std::size_t too_wide = 1 << 16;
  while (too_wide - fitting > 1) {
    const std::size_t middle = (fitting + too_wide) / 2;
    (fits(middle) ? fitting : too_wide) = middle;
  }
  return fitting;
}

}  // namespace

// What bench/instructions counts.
__attribute__((noinline)) void once(WideRun& run) {
  for (int i = 0; i < kResults; ++i) run.turn();
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--once") {
    const auto elements = static_cast<std::size_t>(std::atoi(argv[2]));
    WideRun run(elements);
    for (std::size_t i = 0; i < elements / 2; ++i) run.turn();
    once(run);
    return std::printf("%zu\n", run.cell().state.size()), 0;
  }
  std::printf("%10s %14s %14s %14s\n", "elements", "us a result", "ms in all", "state bytes");
  for (const std::size_t elements : {1000, 2000, 4000, 8000}) {
    const Clock::time_point begin = Clock::now();
    WideRun run(elements);
    for (std::size_t i = 0; i < elements / 2; ++i) run.turn();
    const std::size_t state_bytes = run.cell().state.size();
    const Clock::time_point middle = Clock::now();
    once(run);
    const double each = microseconds_since(middle) / kResults;
    run.finish();
    std::printf("%10zu %14.1f %14.1f %14zu\n", elements, each, microseconds_since(begin) / 1000,
                state_bytes);
  }
  std::printf("widest: %zu elements of 16 to 20 bytes\n", widest());
}
