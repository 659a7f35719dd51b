// SPDX-License-Identifier: Apache-2.0
// Runs workflows of three effects until somebody kills it, and writes down what the outside sees of
// them. tests/crash/crash_test.py kills it and judges the ledger.
//
//   attempt ID STEP KEY TOKEN   a handler was called; its receipt holds the token
//   acked ID new|known          the engine has answered that the workflow has begun, now or before
//   ended ID TOKENS             the engine has answered that it has ended, with these receipts
//
// usage: victim WORLD LEDGER FIRST       from that id on, for ever
//        victim WORLD LEDGER FIRST LAST  until all of these have ended, then leaves
#include <atomic>
#include <random>
#include <string>

#include "holdfast/engine.h"
#include "load.h"

namespace {

using namespace holdfast;

struct Begin {
  static constexpr std::string_view kSchema = "crash/Begin@1";
  std::uint64_t id = 0;
};

struct Work {
  static constexpr std::string_view kEffect = "crash/work@1";
  static constexpr Executor kExecutor = worker("outside");
  struct Params {
    std::uint64_t id = 0;
    std::uint64_t step = 0;
  };
  struct Receipt {
    std::string token;
  };
};

struct Job {
  static constexpr std::string_view kWorkflow = "crash/Job@1";
  struct State {
    std::uint64_t step = 0;
    std::string tokens;
  };
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Work, Timer>;
  using Context = holdfast::Context<Job>;

  static void step(State& state, const Begin&, Context& context) {
    context.open<Work>({context.key(), state.step});
  }
  static void step(State& state, const Received<Work>& done, Context& context) {
    if (!done.ok()) return context.fail(done.error.code, done.error.message);
    state.tokens += (state.tokens.empty() ? "" : ",") + done.receipt.token;
    if (++state.step == 3) return context.complete(state.tokens);
    context.timer(context.now() + std::chrono::milliseconds(1));
  }
  static void step(State& state, const Received<Timer>&, Context& context) {
    context.open<Work>({context.key(), state.step});
  }
};

class Jobs : public crash::Load {
 public:
  using Load::Load;

 private:
  void begin(std::uint64_t id) override {
    const std::string name = "job-" + std::to_string(id);
    engine_.start<Job>(id, Begin{id}, {.id = name}, [this, id](Result<Sent> sent) {
      if (!acked(id, sent)) return;
      engine_.wait<Job>(id, [this, id](Result<Instance<Job>> ended) { end(id, std::move(ended)); });
    });
  }
  void end(std::uint64_t id, Result<Instance<Job>> ended) {
    if (!ended) return fail(ended.error());
    ledger_.write("ended " + std::to_string(id) + " " +
                  ended->result_as<std::string>().value_or("failed"));
    done();
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const crash::Ledger ledger(argv[2]);
  const std::string life = std::to_string(std::random_device()());
  std::atomic<std::uint64_t> attempts = 0;
  EngineOptions options;
  options.modules = {Module::of<Job>("crash/code@1")};
  options.handlers = {handle<Work>([&](const Work::Params& work, const Call& call) {
    const std::string token = life + "." + std::to_string(++attempts);
    ledger.write("attempt " + std::to_string(work.id) + " " + std::to_string(work.step) + " " +
                 call.key + " " + token);
    return Performed<Work>(Work::Receipt{token});
  })};
  return crash::live<Jobs>(argc, argv, ledger, std::move(options));
}
