// SPDX-License-Identifier: Apache-2.0
// Runs workflows of three effects until somebody kills it, and writes down what the outside sees of
// them: the ledger, one line each, appended by one write, so that what was written before a kill is
// there after it. tests/crash/crash_test.py kills it and judges the ledger.
//
//   attempt ID STEP KEY TOKEN   a handler was called; its receipt holds the token
//   acked ID new|known          the engine has answered that the workflow has begun, now or before
//   ended ID TOKENS             the engine has answered that it has ended, with these receipts
//
// usage: victim WORLD LEDGER FIRST       from that id on, for ever
//        victim WORLD LEDGER FIRST LAST  until all of these have ended, then leaves
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "holdfast/engine.h"

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

class Ledger {
 public:
  explicit Ledger(const char* path) : file_(::open(path, O_WRONLY | O_APPEND | O_CREAT, 0644)) {
    if (file_ < 0) std::abort();
  }
  void write(const std::string& line) const {
    const std::string whole = line + "\n";
    if (::write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
      std::abort();
  }

 private:
  int file_;
};

class Load {
 public:
  static constexpr std::uint64_t kInFlight = 64;

  Load(Engine& engine, const Ledger& ledger) : engine_(engine), ledger_(ledger) {}

  // A bounded number at a time. False: the engine has ended.
  bool run(std::uint64_t first, std::optional<std::uint64_t> last) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t id = first; !last || id <= *last; ++id) {
      changed_.wait(lock, [this] { return under_way_ < kInFlight || has_failed_; });
      if (has_failed_) return false;
      ++under_way_;
      lock.unlock();
      begin(id);
      lock.lock();
    }
    changed_.wait(lock, [this] { return under_way_ == 0 || has_failed_; });
    return !has_failed_;
  }

 private:
  void begin(std::uint64_t id) {
    const std::string name = "job-" + std::to_string(id);
    engine_.start<Job>(id, Begin{id}, {.id = name}, [this, id](Result<Sent> sent) {
      // It has begun in an earlier life, whose name for the event is forgotten by now.
      const bool was_there = !sent && sent.error().code == ErrorCode::kConflict;
      if (!sent && !was_there) return fail(sent.error());
      const bool is_new = sent && !sent->is_repeated;
      ledger_.write("acked " + std::to_string(id) + (is_new ? " new" : " known"));
      engine_.wait<Job>(id, [this, id](Result<Instance<Job>> ended) { end(id, std::move(ended)); });
    });
  }
  void end(std::uint64_t id, Result<Instance<Job>> ended) {
    if (!ended) return fail(ended.error());
    ledger_.write("ended " + std::to_string(id) + " " +
                  ended->result_as<std::string>().value_or("failed"));
    const std::lock_guard lock(mutex_);
    --under_way_;
    changed_.notify_one();
  }
  void fail(const Error& error) {
    std::fprintf(stderr, "victim: %s\n", error.message.c_str());
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    changed_.notify_one();
  }

  Engine& engine_;
  const Ledger& ledger_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t under_way_ = 0;
  bool has_failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Ledger ledger(argv[2]);
  const std::string life = std::to_string(std::random_device()());
  std::atomic<std::uint64_t> attempts = 0;
  EngineOptions options;
  options.dir = argv[1];
  options.modules = {Module::of<Job>("crash/code@1")};
  options.any_file_system = true;  // it is killed, and the power stays on
  options.snapshot_every = 2000;
  options.handlers = {handle<Work>([&](const Work::Params& work, const Call& call) {
    const std::string token = life + "." + std::to_string(++attempts);
    ledger.write("attempt " + std::to_string(work.id) + " " + std::to_string(work.step) + " " +
                 call.key + " " + token);
    return Performed<Work>(Work::Receipt{token});
  })};
  auto engine = Engine::open(std::move(options));
  if (!engine) return std::fprintf(stderr, "victim: %s\n", engine.error().message.c_str()), 1;
  std::optional<std::uint64_t> last;
  if (argc > 4) last = std::strtoull(argv[4], nullptr, 10);
  Load load(**engine, ledger);
  const bool well = load.run(std::strtoull(argv[3], nullptr, 10), last);
  return (*engine)->close() && well ? 0 : 1;  // before the load goes, which may still be told
}
