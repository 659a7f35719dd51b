// SPDX-License-Identifier: Apache-2.0
// A process with an engine inside whose workflows all sleep: `idle_sleeper FOLDER COUNT`. Says
// "ready" when they do, and ends when its input does.
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>

#include "holdfast/engine.h"

namespace {

using namespace holdfast;

struct Begin {
  static constexpr std::string_view kSchema = "idle/Begin@1";
  std::uint64_t id = 0;
};

// Nobody calls it: its threads wait for something to do, as a program's would.
struct Work {
  static constexpr std::string_view kEffect = "idle/work@1";
  static constexpr Executor kExecutor = worker("idle");
  struct Params {
    std::uint64_t id = 0;
  };
  using Receipt = Params;
};

struct Sleeper {
  static constexpr std::string_view kWorkflow = "idle/Sleeper@1";
  struct State {
    bool is_awake = false;
  };
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Timer, Work>;
  using Context = holdfast::Context<Sleeper>;

  static void step(State&, const Begin& begin, Context& context) {
    context.timer(context.now() + std::chrono::hours(1) + std::chrono::seconds(begin.id % 1000));
  }
  static void step(State& state, const Received<Timer>&, Context& context) {
    state.is_awake = true;
    context.open<Work>({});
  }
  static void step(State&, const Received<Work>&, Context& context) { context.complete(true); }
};

// Begins them, some at a time. False: one was refused.
bool begin_all(Engine& engine, std::uint64_t count) {
  constexpr std::uint64_t kAtOnce = 256;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t under_way = 0;
  bool is_well = true;
  std::unique_lock lock(mutex);
  for (std::uint64_t id = 0; id < count; ++id) {
    changed.wait(lock, [&] { return under_way < kAtOnce; });
    ++under_way;
    lock.unlock();
    engine.send(Begin{id}, {}, [&](Result<Sent> sent) {
      const std::lock_guard inside(mutex);
      if (!sent) is_well = false;
      --under_way;
      changed.notify_one();
    });
    lock.lock();
  }
  changed.wait(lock, [&] { return under_way == 0; });
  return is_well;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  EngineOptions options;
  options.dir = argv[1];
  options.modules = {Module::of<Sleeper>("idle/code@1")};
  options.handlers = {handle<Work>(
      [](const Work::Params& params, const Call&) -> Performed<Work> { return params; })};
  options.programs = {"/bin/true"};  // so that this executor is there too
  options.any_file_system = true;
  auto engine = Engine::open(std::move(options));
  if (!engine) {
    std::cerr << engine.error().message << "\n";
    return 1;
  }
  if (!begin_all(**engine, std::strtoull(argv[2], nullptr, 10))) return 1;
  std::cout << "ready" << std::endl;
  std::cin.get();
  return (*engine)->close() ? 0 : 1;
}
