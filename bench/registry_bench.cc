// SPDX-License-Identifier: Apache-2.0
// A registration on a warm file beside the durable write of the same bytes alone, in the same loop,
// so that a noisy machine is noisy for both. `ratio` is how much longer the registration takes: the
// lock, reading and judging what is there, and writing it. It is the median of several rounds, each
// of which compares two medians, and the program fails where it is above what was promised.
// HOLDFAST_BENCH_FOLDER names the folder to write in; the temporary folder else.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

constexpr double kPromised = 2.0;
constexpr int kRounds = 7;
constexpr int kPairs = 60;  // of a registration and a write, in a round

bool is_promise_kept = true;

// Processes that own leases, each its own, and do nothing.
class Owners {
 public:
  explicit Owners(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const pid_t id = ::fork();
      CHECK(id >= 0);
      if (id == 0) {
        // Not longer than this program.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
      }
      ids_.push_back(id);
    }
  }
  ~Owners() {
    for (const pid_t id : ids_) {
      ::kill(id, SIGKILL);
      ::waitpid(id, nullptr, 0);
    }
  }
  const std::vector<pid_t>& ids() const { return ids_; }

 private:
  std::vector<pid_t> ids_;
};

struct Round {
  double registration_us;
  double write_us;
  double ratio() const { return registration_us / write_us; }
};

// With so many others registered, whose owners are alive.
void registering(benchmark::State& state) {
  const bench::Folder folder;
  const auto registry = *Registry::open({.dir = folder.path() + "/registry"});
  const Owners owners(state.range(0));
  for (const pid_t owner : owners.ids()) {
    CHECK(static_cast<bool>(registry->take_lease({.name = "other-" + std::to_string(owner),
                                                  .recipe = "llama",
                                                  .ttl = std::chrono::hours(1),
                                                  .pid = owner})));
  }
  const LeaseOptions options{.name = "train", .recipe = "llama"};
  CHECK(static_cast<bool>(registry->take_lease(options)));
  const auto disk = env::posix_disk();
  const base::Bytes bytes =
      env::read_file(*disk, registry->dir() + "/workflows.json", std::size_t{8} << 20).take();
  const std::string alone = folder.path() + "/alone.json";
  std::vector<Round> rounds;
  for ([[maybe_unused]] auto _ : state) {
    std::vector<double> registrations;
    std::vector<double> writes;
    for (int pair = 0; pair < kPairs; ++pair) {
      auto begin = Clock::now();
      CHECK(static_cast<bool>(registry->take_lease(options)));
      registrations.push_back(microseconds_since(begin));
      begin = Clock::now();
      env::replace_file(*disk, alone, bytes).take();
      writes.push_back(microseconds_since(begin));
    }
    rounds.push_back({median(registrations), median(writes)});
  }
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end(),
                   [](const Round& a, const Round& b) { return a.ratio() < b.ratio(); });
  state.counters["register_us"] = middle->registration_us;
  state.counters["write_us"] = middle->write_us;
  state.counters["ratio"] = middle->ratio();
  if (middle->ratio() < kPromised) return;
  is_promise_kept = false;
  std::fprintf(stderr, "registering with %lld others takes %.2f times the durable write\n",
               static_cast<long long>(state.range(0)), middle->ratio());
}
BENCHMARK(registering)->Arg(0)->Arg(10)->Arg(100)->Iterations(kRounds)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return is_promise_kept ? 0 : 1;
}
