// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_embedded.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "cli/bench_lanes.h"
#include "cli/bench_workflows.h"
#include "errors/translate.h"
#include "holdfast/engine.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

// So much that a run that is counted in workflows ends before.
constexpr double kLongest = 36'000;
constexpr std::size_t kSpans = 60;

double cpu_us(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

rusage used_so_far() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

// Until the index has seen everything, or does not get on.
double catch_up(Engine& engine) {
  const auto begin = Clock::now();
  const auto took = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  for (Figures now = engine.figures(); now.history_lag != 0 && now.history_is_well && took() < 600;
       now = engine.figures())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return took();
}

template <class Workflow>
base::Result<EmbeddedFigures> measure(const EmbeddedOptions& options,
                                      std::vector<Handler> handlers) {
  EngineOptions engine_options;
  engine_options.dir = options.folder + "/world";
  engine_options.modules = {Module::of<Workflow>("bench/steps@1")};
  engine_options.handlers = std::move(handlers);
  engine_options.any_file_system = true;  // it is gone afterwards
  engine_options.history = options.history;
  auto engine = Engine::open(std::move(engine_options));
  if (!engine) return errors::inside(engine.error());

  const Figures before = (*engine)->figures();
  const rusage used_before = used_so_far();
  const auto begin = Clock::now();
  const std::uint64_t in_flight =
      options.workflows == 0 ? options.in_flight : std::min(options.in_flight, options.workflows);
  Lanes<Workflow> lanes(**engine, in_flight);
  const double seconds = options.workflows == 0 ? options.seconds : kLongest;
  const auto error =
      lanes.run(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)),
                options.workflows);
  if (error) return errors::inside(*error);
  const Figures after = (*engine)->figures();

  EmbeddedFigures figures;
  figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  figures.workflows = lanes.finished().size();
  figures.course = course_of(lanes.finished(), figures.seconds, kSpans);
  const auto each = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from) /
           static_cast<double>(std::max<std::uint64_t>(1, figures.workflows));
  };
  figures.syncs_per_workflow = each(before.syncs, after.syncs);
  figures.journal_bytes_per_workflow = each(before.journal_bytes, after.journal_bytes);
  figures.history_lag = after.history_lag;
  if (options.history) figures.history_catch_up_s = catch_up(**engine);
  const rusage used = used_so_far();
  figures.cpu_us_per_workflow = (cpu_us(used.ru_utime) + cpu_us(used.ru_stime) -
                                 cpu_us(used_before.ru_utime) - cpu_us(used_before.ru_stime)) /
                                static_cast<double>(std::max<std::uint64_t>(1, figures.workflows));
  figures.peak_mb = static_cast<double>(used.ru_maxrss) / 1024;
  if (auto closed = (*engine)->close(); !closed) return errors::inside(closed.error());
  return figures;
}

}  // namespace

base::Result<EmbeddedFigures> bench_embedded(const EmbeddedOptions& options) {
  if (options.of_steps)
    return measure<BenchFlow>(options, step_handlers(std::make_shared<BenchFlow>()));
  return measure<BenchSteps>(options, {});
}

}  // namespace holdfast::cli
