// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_parked.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "cli/bench_share.h"
#include "cli/bench_workflows.h"
#include "errors/translate.h"
#include "holdfast/steps.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Answer {
  static constexpr std::string_view kSchema = "bench/Answer@1";
  std::uint64_t id = 0;
  bool approved = false;
};
struct Asked {
  static constexpr std::string_view kSchema = "bench/Asked@1";
  std::string text;
};
struct Approved {
  static constexpr std::string_view kSchema = "bench/Approved@1";
  bool approved = false;
};

// One step, which asks a person and returns the answer.
struct BenchParked : StepWorkflow {
  static constexpr std::string_view kWorkflow = "bench/Parked@1";
  using Events = holdfast::Events<On<BenchBegin, &BenchBegin::id>, On<Answer, &Answer::id>>;
  using Stop = Approved;
  using Asks = holdfast::Asks<Asked>;

  Approved ask(const BenchBegin&, StepContext& context) {
    return {context.ask<Answer>(Asked{"May it go on?"}).approved};
  }
  static auto steps() { return StepsOf<BenchParked>().step("ask", &BenchParked::ask); }
};

EngineOptions options() {
  EngineOptions options;
  options.modules = {Module::of<BenchParked>("bench/parked@1")};
  options.handlers = step_handlers(std::make_shared<BenchParked>());
  return options;
}

// Until every step that was asked for has come back: all of them wait for a person then.
std::optional<Error> wait_until_parked(Engine& engine) {
  while (true) {
    std::promise<Result<Measures>> told;
    engine.measure([&](Result<Measures> measures) { told.set_value(std::move(measures)); });
    const Result<Measures> measures = told.get_future().get();
    if (!measures) return measures.error();
    if (measures->open_effects == 0 && measures->waiting_results == 0) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

base::Result<double> wake(Engine& engine, std::uint64_t id) {
  const auto begin = Clock::now();
  if (const auto sent = engine.send(Answer{id, true}); !sent) return errors::inside(sent.error());
  const auto ended = engine.wait<BenchParked>(id, std::chrono::minutes(1));
  if (!ended) return errors::inside(ended.error());
  if (!ended->result_as<Approved>().value_or(Approved{}).approved)
    return base::Error(base::ErrorCode::kCorrupt, "one was woken, and has another result");
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Begins one more, which is in memory then, and wakes it when it waits.
base::Result<double> wake_a_new_one(Engine& engine, std::uint64_t id) {
  if (const auto sent = engine.start<BenchParked>(id, BenchBegin{id}); !sent)
    return errors::inside(sent.error());
  while (true) {
    const auto run = engine.query<BenchParked>(id);
    if (!run) return errors::inside(run.error());
    if (run->state.status == "idle") return wake(engine, id);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

base::Result<ParkedFigures> bench_parked(const std::string& folder, std::uint64_t count,
                                         std::uint64_t wakes) {
  const Crowd crowd{.options = &options,
                    .start =
                        [](Engine& engine, std::uint64_t id, Engine::Then<Sent> then) {
                          engine.start<BenchParked>(id, BenchBegin{id}, {}, std::move(then));
                        },
                    .settle = &wait_until_parked};
  const RecoveredCrowd recovered = TRY(begin_and_kill(folder, crowd, count));
  ParkedFigures figures{.crowd = recovered.figures};

  // Before anybody has looked at them.
  std::mt19937_64 dice(1);
  std::set<std::uint64_t> chosen;
  while (chosen.size() < std::min(wakes, count)) chosen.insert(dice() % count);
  std::vector<std::uint64_t> order(chosen.begin(), chosen.end());
  std::shuffle(order.begin(), order.end(), dice);
  std::vector<double> took_us;
  std::vector<double> new_took_us;
  for (const std::uint64_t id : order) {
    took_us.push_back(TRY(wake(*recovered.engine, id)));
    new_took_us.push_back(TRY(wake_a_new_one(*recovered.engine, count + took_us.size())));
  }
  figures.woken = took_us.size();
  figures.wake_p50_us = at_share(took_us, 0.5);
  figures.wake_p99_us = at_share(took_us, 0.99);
  figures.wake_max_us = at_share(took_us, 1);
  figures.new_p50_us = at_share(new_took_us, 0.5);
  figures.new_p99_us = at_share(new_took_us, 0.99);

  for (std::uint64_t id = 0; id < count; ++id) {
    const auto run = recovered.engine->query<BenchParked>(id);
    if (!run) continue;
    const bool waits = !run->has_ended() && run->state.status == "idle";
    if (chosen.contains(id) ? run->status == InstanceStatus::kCompleted : waits)
      ++figures.recovered;
  }
  return figures;
}

}  // namespace holdfast::cli
