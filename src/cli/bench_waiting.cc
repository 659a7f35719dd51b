// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_waiting.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/bench_workflows.h"
#include "errors/translate.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct WaitedFor {
  static constexpr std::string_view kEffect = "bench/waited_for@1";
  static constexpr Executor kExecutor = worker("bench");
  struct Params {
    std::uint64_t id = 0;
  };
  struct Receipt {};
};

// One effect, and it is over.
struct BenchWaiter {
  static constexpr std::string_view kWorkflow = "bench/Waiter@1";
  struct State {
    bool waits = false;
  };
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>>;
  using Effects = holdfast::Effects<WaitedFor>;
  using Context = holdfast::Context<BenchWaiter>;

  static void step(State& state, const BenchBegin& begin, Context& context) {
    state.waits = true;
    context.open<WaitedFor>({begin.id});
  }
  static void step(State&, const Received<WaitedFor>& done, Context& context) {
    if (!done.ok()) return context.fail(done.error.code, done.error.message);
    context.complete(true);
  }
};

// In the process that is killed nothing is ever performed.
EngineOptions waiters(pid_t performs) {
  EngineOptions options;
  options.modules = {Module::of<BenchWaiter>("bench/waiter@1")};
  options.handlers = {handle<WaitedFor>(
      [performs](const WaitedFor::Params&, const Call& call) -> Performed<WaitedFor> {
        while (::getpid() != performs && !call.stopped())
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return WaitedFor::Receipt{};
      })};
  return options;
}

}  // namespace

base::Result<WaitingFigures> bench_waiting(const std::string& folder, std::uint64_t count) {
  const pid_t performs = ::getpid();
  const Crowd crowd{.options = [performs] { return waiters(performs); },
                    .start =
                        [](Engine& engine, std::uint64_t id, Engine::Then<Sent> then) {
                          engine.start<BenchWaiter>(id, BenchBegin{id}, {}, std::move(then));
                        }};
  const RecoveredCrowd recovered = TRY(begin_and_kill(folder, crowd, count));
  WaitingFigures figures{.crowd = recovered.figures};
  const auto opened = Clock::now();
  for (std::uint64_t id = 0; id < count; ++id) {
    const auto ended = recovered.engine->wait<BenchWaiter>(id, std::chrono::minutes(10));
    if (!ended) return errors::inside(ended.error());
    if (ended->status == InstanceStatus::kCompleted) ++figures.completed;
  }
  figures.performed_s = std::chrono::duration<double>(Clock::now() - opened).count();
  return figures;
}

}  // namespace holdfast::cli
