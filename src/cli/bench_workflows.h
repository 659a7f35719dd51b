// SPDX-License-Identifier: Apache-2.0
// What `holdfast bench` runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include "holdfast/module.h"
#include "holdfast/steps.h"

namespace holdfast::cli {

// Begins either of them.
struct BenchBegin {
  static constexpr std::string_view kSchema = "bench/Begin@1";
  std::uint64_t id = 0;
};

struct BenchEcho {
  static constexpr std::string_view kEffect = "bench/echo@1";
  static constexpr Executor kExecutor = built_in("echo");
  struct Params {
    std::uint64_t step = 0;
  };
  using Receipt = Params;
};

// Three effects, one after the other.
struct BenchSteps {
  static constexpr std::string_view kWorkflow = "bench/Steps@1";
  static constexpr std::uint64_t kSteps = 3;
  struct State {
    std::uint64_t done = 0;
  };
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>>;
  using Effects = holdfast::Effects<BenchEcho>;
  using Context = holdfast::Context<BenchSteps>;

  static void step(State& state, const BenchBegin&, Context& context) {
    context.open<BenchEcho>({state.done});
  }
  static void step(State& state, const Received<BenchEcho>& echoed, Context& context) {
    if (!echoed.ok()) return context.fail(echoed.error.code, echoed.error.message);
    if (++state.done == kSteps) return context.complete(state.done);
    context.open<BenchEcho>({state.done});
  }
};

struct BenchPassed {
  static constexpr std::string_view kSchema = "bench/Passed@1";
  std::uint64_t done = 0;
};
struct BenchDone {
  static constexpr std::string_view kSchema = "bench/Done@1";
  std::uint64_t done = 0;
};

// The same as a step workflow: a step takes what it has returned until it was there three times.
struct BenchFlow : StepWorkflow {
  static constexpr std::string_view kWorkflow = "bench/Flow@1";
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>>;
  using Stop = BenchDone;

  BenchPassed begin(const BenchBegin&, StepContext&) { return {1}; }
  std::variant<BenchPassed, BenchDone> pass(const BenchPassed& passed, StepContext&) {
    if (passed.done + 1 == BenchSteps::kSteps) return BenchDone{passed.done + 1};
    return BenchPassed{passed.done + 1};
  }
  static auto steps() {
    return StepsOf<BenchFlow>().step("begin", &BenchFlow::begin).step("pass", &BenchFlow::pass);
  }
};

// Sleeps longer than any benchmark runs.
struct BenchSleeper {
  static constexpr std::string_view kWorkflow = "bench/Sleeper@1";
  struct State {
    std::uint64_t begun_ns = 0;
  };
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<BenchSleeper>;

  static void step(State& state, const BenchBegin&, Context& context) {
    const Time now = context.now();
    state.begun_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
    context.timer(now + std::chrono::hours(1000));
  }
  static void step(State&, const Received<Timer>&, Context& context) { context.complete(true); }
};

}  // namespace holdfast::cli
