// SPDX-License-Identifier: Apache-2.0
// Our side of bench/steps_peer/run: step workflows in memory, and in an engine that makes every
// step durable.
// usage: steps_peer [memory|stream|durable line|fan in_flight seconds [folder]]
// Prints one line of JSON for each. `stream`: in memory, and every entry of every stream is kept
// until its run has ended.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/bench_folder.h"
#include "holdfast/engine.h"
#include "holdfast/memory_runs.h"

namespace {

using namespace holdfast;
using Clock = std::chrono::steady_clock;

struct Begin {
  static constexpr std::string_view kSchema = "bench/Begin@1";
  std::uint64_t id = 0;
  std::uint64_t n = 0;
};
struct First {
  static constexpr std::string_view kSchema = "bench/First@1";
  std::uint64_t n = 0;
};
struct Second {
  static constexpr std::string_view kSchema = "bench/Second@1";
  std::uint64_t n = 0;
};
struct Result {
  static constexpr std::string_view kSchema = "bench/Result@1";
  std::uint64_t n = 0;
};

// Three steps in a row: four events.
struct Line : StepWorkflow {
  static constexpr std::string_view kWorkflow = "bench/Line@1";
  static constexpr std::uint64_t kEvents = 4;
  static constexpr std::uint64_t kBegin = 1;
  static constexpr std::uint64_t kResult = 4;
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Result;

  First one(const Begin& begin, StepContext&) { return {begin.n + 1}; }
  Second two(const First& first, StepContext&) { return {first.n + 1}; }
  Result three(const Second& second, StepContext&) { return {second.n + 1}; }
  static auto steps() {
    return StepsOf<Line>()
        .step("one", &Line::one)
        .step("two", &Line::two)
        .step("three", &Line::three);
  }
};

// A fan-out of ten and a join: 22 events.
struct Fan : StepWorkflow {
  static constexpr std::string_view kWorkflow = "bench/Fan@1";
  static constexpr std::uint64_t kEvents = 22;
  static constexpr std::uint64_t kBegin = 10;
  static constexpr std::uint64_t kResult = 385;
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Result;

  std::vector<First> split(const Begin& begin, StepContext&) {
    std::vector<First> parts;
    for (std::uint64_t n = 1; n <= begin.n; ++n) parts.push_back({n});
    return parts;
  }
  Second square(const First& part, StepContext&) { return {part.n * part.n}; }
  Result add(const std::vector<Second>& pieces, StepContext&) {
    Result sum;
    for (const Second& piece : pieces) sum.n += piece.n;
    return sum;
  }
  static auto steps() {
    return StepsOf<Fan>()
        .step("split", &Fan::split)
        .step("square", &Fan::square, {.workers = 10})
        .step("add", &Fan::add);
  }
};

struct Figures {
  std::uint64_t workflows = 0;
  double seconds = 0;
};

template <class W>
void check_result(const std::optional<Result>& result) {
  CHECK(result && result->n == W::kResult);
}

// As many as are in flight are begun, and one more for each that ends.
template <class W>
Figures in_memory(bool keeps_streams, std::uint64_t in_flight, double seconds) {
  std::uint64_t ended = 0;
  MemoryOptions options;
  if (!keeps_streams) options.max_entries = 0;
  options.ended = [&](const Bytes&, const StepOutcome& outcome) {
    check_result<W>(outcome.as<Result>());
    ++ended;
  };
  auto runs = MemoryRuns<W>::open(std::make_shared<W>(), options);
  CHECK(runs);
  std::uint64_t begun = 0;
  const auto begin = Clock::now();
  const auto took = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  do {
    while (begun - ended < in_flight) CHECK((*runs)->post(Begin{begun++, W::kBegin}));
    (*runs)->settle();
  } while (took() < seconds);
  return {ended, took()};
}

template <class W>
class Lanes {
 public:
  explicit Lanes(Engine& engine) : engine_(engine) {}

  Figures run(std::uint64_t in_flight, double seconds) {
    const auto begin = Clock::now();
    end_ =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    running_ = in_flight;
    for (std::uint64_t lane = 0; lane < in_flight; ++lane) start(lane << 32U);
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return running_ == 0; });
    return {ended_, std::chrono::duration<double>(Clock::now() - begin).count()};
  }

 private:
  void start(std::uint64_t id) {
    engine_.start<W>(id, Begin{id, W::kBegin}, {}, [this, id](holdfast::Result<Sent> sent) {
      CHECK(sent);
      engine_.wait<W>(id, [this, id](holdfast::Result<Instance<W>> ended) {
        CHECK(ended);
        check_result<W>(ended->template result_as<Result>());
        const std::lock_guard lock(mutex_);
        ++ended_;
        if (Clock::now() < end_) return start(id + 1);
        if (--running_ == 0) all_ended_.notify_one();
      });
    });
  }

  Engine& engine_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::uint64_t running_ = 0;
  std::uint64_t ended_ = 0;
};

template <class W>
Figures durable(const std::string& parent, std::uint64_t in_flight, double seconds) {
  const auto folder = cli::BenchFolder::make(parent);
  CHECK(folder);
  auto engine = Engine::open({.dir = folder->path() + "/world",
                              .modules = {Module::of<W>("bench/code@1")},
                              .handlers = step_handlers(std::make_shared<W>()),
                              .any_file_system = true});  // it is gone afterwards
  CHECK(engine);
  return Lanes<W>(**engine).run(in_flight, seconds);
}

template <class W>
void measure(std::string_view how, std::string_view graph, std::uint64_t in_flight, double seconds,
             const std::string& folder) {
  const Figures figures = how == "durable" ? durable<W>(folder, in_flight, seconds)
                                           : in_memory<W>(how == "stream", in_flight, seconds);
  std::printf(
      R"({"who":"holdfast %s","graph":"%s","in_flight":%llu,"workflows":%llu,"seconds":%.3f,"events_per_s":%.1f})"
      "\n",
      std::string(how).c_str(), std::string(graph).c_str(),
      static_cast<unsigned long long>(in_flight),
      static_cast<unsigned long long>(figures.workflows), figures.seconds,
      static_cast<double>(figures.workflows * W::kEvents) / figures.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const auto run = [](std::string_view how, std::string_view graph, std::uint64_t in_flight,
                      double seconds, const std::string& folder) {
    if (graph == "fan") return measure<Fan>(how, graph, in_flight, seconds, folder);
    measure<Line>(how, graph, in_flight, seconds, folder);
  };
  if (argc == 1) {  // among the other benchmarks, without the peer
    for (const char* graph : {"line", "fan"}) {
      for (const char* how : {"memory", "stream", "durable"}) run(how, graph, 64, 1, ".");
    }
    return 0;
  }
  if (argc < 5) {
    std::fputs("usage: steps_peer [memory|stream|durable line|fan in_flight seconds [folder]]\n",
               stderr);
    return 2;
  }
  run(argv[1], argv[2], static_cast<std::uint64_t>(std::atoll(argv[3])), std::atof(argv[4]),
      argc > 5 ? argv[5] : ".");
}
