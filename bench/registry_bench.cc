// SPDX-License-Identifier: Apache-2.0
// A registration on a warm file beside the durable write of the same bytes alone, in the same loop,
// so that a noisy machine is noisy for both. `ratio` is how much longer the registration takes: the
// lock, reading and judging what is there, and writing it. HOLDFAST_BENCH_FOLDER names the folder
// to write in; the temporary folder else.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "env/posix_disk.h"
#include "folder.h"
#include "holdfast/registry.h"

namespace {

using namespace holdfast;
using Clock = std::chrono::steady_clock;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// With so many others registered, whose owners are alive.
void registering(benchmark::State& state) {
  const bench::Folder folder;
  const auto registry = *Registry::open({.dir = folder.path() + "/registry"});
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    CHECK(static_cast<bool>(
        registry->take_lease({.name = "other-" + std::to_string(i), .recipe = "llama"})));
  }
  const LeaseOptions options{.name = "train", .recipe = "llama"};
  CHECK(static_cast<bool>(registry->take_lease(options)));
  const auto disk = env::posix_disk();
  const base::Bytes bytes =
      env::read_file(*disk, registry->dir() + "/workflows.json", std::size_t{8} << 20).take();
  const std::string alone = folder.path() + "/alone.json";
  std::vector<double> registrations;
  std::vector<double> writes;
  for ([[maybe_unused]] auto _ : state) {
    auto begin = Clock::now();
    CHECK(static_cast<bool>(registry->take_lease(options)));
    registrations.push_back(microseconds_since(begin));
    begin = Clock::now();
    env::replace_file(*disk, alone, bytes).take();
    writes.push_back(microseconds_since(begin));
  }
  const double registration = median(registrations);
  const double write = median(writes);
  state.counters["register_us"] = registration;
  state.counters["write_us"] = write;
  state.counters["ratio"] = registration / write;
}
BENCHMARK(registering)->Arg(0)->Arg(10)->Arg(100)->Iterations(300)->UseRealTime();

}  // namespace
