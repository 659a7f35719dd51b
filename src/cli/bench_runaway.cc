// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_runaway.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cli/bench_lanes.h"
#include "cli/bench_share.h"
#include "cli/bench_workflows.h"
#include "errors/translate.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTimers = 2560;
constexpr std::uint64_t kLoopers = 3000;
constexpr std::uint64_t kTimersPerStep = 64;
constexpr std::uint64_t kSleepers = 2000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct MoreTimers {
  static constexpr std::string_view kSchema = "bench/MoreTimers@1";
  std::uint64_t id = 0;
};

// Each event sets a few timers that are due already, and each of them sets the next one.
struct TimerHog {
  static constexpr std::string_view kWorkflow = "bench/TimerHog@1";
  struct State {
    std::uint64_t rung = 0;
  };
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>, On<MoreTimers, &MoreTimers::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<TimerHog>;

  static void step(State&, const BenchBegin&, Context& context) { set_some(context); }
  static void step(State&, const MoreTimers&, Context& context) { set_some(context); }
  static void set_some(Context& context) {
    for (std::uint64_t i = 0; i < kTimersPerStep; ++i) context.open<Timer>({0, std::nullopt});
  }
  static void step(State& state, const Received<Timer>&, Context& context) {
    ++state.rung;
    context.open<Timer>({0, std::nullopt});
  }
};

template <class Effect>
struct Looper {
  static constexpr std::string_view kWorkflow = Effect::kLooper;
  struct State {
    std::uint64_t done = 0;
  };
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>>;
  using Effects = holdfast::Effects<Effect>;
  using Context = holdfast::Context<Looper>;

  static void step(State& state, const BenchBegin&, Context& context) {
    context.template open<Effect>({state.done});
  }
  static void step(State& state, const Received<Effect>&, Context& context) {
    context.template open<Effect>({++state.done});
  }
};

struct LoopEcho {
  static constexpr std::string_view kEffect = "bench/loop_echo@1";
  static constexpr std::string_view kLooper = "bench/EchoHog@1";
  static constexpr Executor kExecutor = built_in("echo");
  struct Params {
    std::uint64_t n = 0;
  };
  using Receipt = Params;
};
struct LoopHandler {
  static constexpr std::string_view kEffect = "bench/loop_handler@1";
  static constexpr std::string_view kLooper = "bench/HandlerHog@1";
  static constexpr Executor kExecutor = worker("bench");
  struct Params {
    std::uint64_t n = 0;
  };
  using Receipt = Params;
};

using EchoHog = Looper<LoopEcho>;
using HandlerHog = Looper<LoopHandler>;

// Calls that are answered by callbacks, some of them at a time; the first error is kept.
class Calls {
 public:
  template <class T>
  Engine::Then<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ < kAtOnce; });
    ++under_way_;
    return [this](Result<T> answer) {
      const std::lock_guard guard(mutex_);
      if (!answer && !error_) error_ = answer.error();
      --under_way_;
      changed_.notify_one();
    };
  }
  std::optional<Error> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ == 0; });
    return error_;
  }

 private:
  static constexpr std::uint64_t kAtOnce = 128;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t under_way_ = 0;
  std::optional<Error> error_;
};

template <class Workflow>
std::optional<Error> start_all(Engine& engine, std::uint64_t count) {
  Calls calls;
  for (std::uint64_t id = 0; id < count; ++id)
    engine.start<Workflow>(id, BenchBegin{id}, {}, calls.next<Sent>());
  return calls.wait();
}

template <class Workflow>
std::optional<Error> cancel_all(Engine& engine, std::uint64_t count) {
  Calls calls;
  for (std::uint64_t id = 0; id < count; ++id)
    engine.control_raw(Control::kCancel, Workflow::kWorkflow, detail::bytes_of_key(id), "enough",
                       calls.next<Done>());
  return calls.wait();
}

// How a load begins and how it is ended.
struct LoadKind {
  std::optional<Error> (*begin)(Engine& engine);
  std::optional<Error> (*cancel)(Engine& engine);
};

std::optional<Error> begin_timers(Engine& engine) {
  if (auto failed = start_all<TimerHog>(engine, 1)) return failed;
  for (std::uint64_t i = 1; i < kTimers / kTimersPerStep; ++i) {
    if (const auto sent = engine.send(MoreTimers{0}); !sent) return sent.error();
  }
  return std::nullopt;
}

template <class Workflow>
LoadKind loopers() {
  return {[](Engine& engine) { return start_all<Workflow>(engine, kLoopers); },
          [](Engine& engine) { return cancel_all<Workflow>(engine, kLoopers); }};
}

LoadKind load_named(const std::string& name) {
  if (name == "timers")
    return {&begin_timers, [](Engine& engine) { return cancel_all<TimerHog>(engine, 1); }};
  return name == "echo" ? loopers<EchoHog>() : loopers<HandlerHog>();
}

base::Result<double> others_per_s(Engine& engine, const RunawayOptions& options,
                                  std::uint64_t first) {
  const auto begin = Clock::now();
  Lanes<BenchSteps> lanes(engine, options.in_flight, first);
  const auto error = lanes.run(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds)));
  if (error) return errors::inside(*error);
  return static_cast<double>(lanes.finished().size()) / seconds_since(begin);
}

}  // namespace

base::Result<RunawayFigures> bench_runaway(const RunawayOptions& options) {
  EngineOptions engine_options;
  engine_options.dir = options.folder + "/world";
  engine_options.modules = {
      Module::of<BenchSteps, BenchSleeper, TimerHog, EchoHog, HandlerHog>("bench/runaway@1")};
  engine_options.handlers = {
      handle<LoopHandler>([](const LoopHandler::Params& params,
                             const Call&) -> Performed<LoopHandler> { return params; })};
  engine_options.any_file_system = true;  // it is gone afterwards
  auto opened = Engine::open(std::move(engine_options));
  if (!opened) return errors::inside(opened.error());
  Engine& engine = **opened;
  RunawayFigures figures;
  if (const auto failed = start_all<BenchSleeper>(engine, kSleepers))
    return errors::inside(*failed);
  figures.before_per_s = TRY(others_per_s(engine, options, 0));

  const LoadKind load = load_named(options.load);
  if (const auto failed = load.begin(engine)) return errors::inside(*failed);
  // A client cancels one instance after the other, all the time.
  std::atomic<bool> is_over = false;
  auto cancelled = std::async(std::launch::async, [&]() -> base::Result<std::vector<double>> {
    std::vector<double> took_ms;
    for (std::uint64_t id = 0; id < kSleepers && !is_over; ++id) {
      const auto begin = Clock::now();
      if (const auto done = engine.cancel<BenchSleeper>(id, "enough"); !done)
        return errors::inside(done.error());
      took_ms.push_back(seconds_since(begin) * 1000);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return took_ms;
  });
  const std::uint64_t records = engine.figures().records;
  const auto begin = Clock::now();
  auto beside = others_per_s(engine, options, 1'000'000);
  figures.load_per_s =
      static_cast<double>(engine.figures().records - records) / seconds_since(begin);
  is_over = true;
  std::vector<double> took_ms = TRY(cancelled.get());
  figures.beside_per_s = TRY(std::move(beside));
  figures.load_per_s -= figures.beside_per_s * (1 + BenchSteps::kSteps);
  figures.cancels = took_ms.size();
  figures.cancel_p50_ms = at_share(took_ms, 0.5);
  figures.cancel_p99_ms = at_share(took_ms, 0.99);

  const auto stopping = Clock::now();
  if (const auto failed = load.cancel(engine)) return errors::inside(*failed);
  figures.stopped_ms = seconds_since(stopping) * 1000;
  figures.after_per_s = TRY(others_per_s(engine, options, 2'000'000));
  if (auto closed = engine.close(); !closed) return errors::inside(closed.error());
  return figures;
}

}  // namespace holdfast::cli
