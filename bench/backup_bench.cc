// SPDX-License-Identifier: Apache-2.0
// What a backup costs those who work meanwhile: how long an event takes to be acknowledged, with
// and without a backup that runs, in turns and in one run. Eight senders, each of which waits for
// its answer; a snapshot every 2 000 records. HOLDFAST_BENCH_FOLDER names the folder to write in;
// the temporary folder else.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "folder.h"
#include "holdfast/engine.h"
#include "holdfast/workflow.h"

namespace {

using namespace holdfast;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kSenders = 8;
constexpr int kRounds = 5;
constexpr std::chrono::seconds kRound(2);
constexpr std::size_t kEventsBefore = 40'000;  // so that there is something to copy

struct Put {
  static constexpr std::string_view kSchema = "bench/Put@1";
  std::string id;
  std::string text;
};

struct Keep {
  static constexpr std::string_view kWorkflow = "bench/Keep@1";
  struct State {
    std::string text;
  };
  using Events = holdfast::Events<On<Put, &Put::id>>;
  using Context = holdfast::Context<Keep>;
  static void step(State& state, const Put& put, Context&) { state.text = put.text; }
};

// Sends until it is told to stop, and keeps what each took, in microseconds.
class Senders {
 public:
  explicit Senders(Engine& engine) : engine_(engine), took_(kSenders) {}

  std::vector<double> run(std::chrono::milliseconds time, std::size_t most = SIZE_MAX) {
    std::atomic<bool> is_over = false;
    std::atomic<std::size_t> sent = 0;
    std::vector<std::thread> threads;
    for (std::size_t sender = 0; sender < kSenders; ++sender) {
      took_[sender].clear();
      threads.emplace_back([&, sender] {
        while (!is_over && sent++ < most) {
          const std::uint64_t number = next_++;
          const Put put{"k-" + std::to_string(number % 20'000), std::string(400, 'x')};
          const auto begun = Steady::now();
          CHECK(engine_.send(put));
          took_[sender].push_back(
              std::chrono::duration<double, std::micro>(Steady::now() - begun).count());
        }
      });
    }
    if (most == SIZE_MAX) std::this_thread::sleep_for(time);
    is_over = most == SIZE_MAX;
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const auto& each : took_) all.insert(all.end(), each.begin(), each.end());
    return all;
  }

 private:
  Engine& engine_;
  std::atomic<std::uint64_t> next_ = 0;
  std::vector<std::vector<double>> took_;
};

double percentile(std::vector<double>& all, double part) {
  CHECK(!all.empty());
  const auto at = static_cast<std::size_t>(part * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
  return all[at];
}

void acknowledging_while_a_backup_runs(benchmark::State& state) {
  const bench::Folder folder;
  std::filesystem::create_directory(folder.path() + "/backups");
  EngineOptions options;
  options.dir = folder.path() + "/world";
  options.modules = {Module::of<Keep>("bench/code@1")};
  options.any_file_system = true;
  options.snapshot_every = 2'000;
  options.backup_folder = folder.path() + "/backups";
  auto engine = Engine::open(std::move(options));
  CHECK(engine);
  Senders senders(**engine);
  senders.run({}, kEventsBefore);
  std::vector<double> without;
  std::vector<double> with;
  std::uint64_t backups = 0;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<double> quiet = senders.run(kRound);
      without.insert(without.end(), quiet.begin(), quiet.end());
      // One after the other, each into a new folder, so that all of it is copied.
      std::atomic<bool> is_over = false;
      std::thread backing([&] {
        while (!is_over) {
          CHECK((*engine)->backup("b" + std::to_string(backups % 2)));
          std::filesystem::remove_all(folder.path() + "/backups/b" + std::to_string(backups % 2));
          ++backups;
        }
      });
      const std::vector<double> busy = senders.run(kRound);
      with.insert(with.end(), busy.begin(), busy.end());
      is_over = true;
      backing.join();
    }
  }
  state.counters["backups"] = static_cast<double>(backups);
  state.counters["p50_us"] = percentile(without, 0.5);
  state.counters["p99_us"] = percentile(without, 0.99);
  state.counters["p50_with_backup_us"] = percentile(with, 0.5);
  state.counters["p99_with_backup_us"] = percentile(with, 0.99);
  state.counters["p99_ratio"] = percentile(with, 0.99) / percentile(without, 0.99);
  CHECK((*engine)->close());
}
BENCHMARK(acknowledging_while_a_backup_runs)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
