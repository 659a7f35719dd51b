// SPDX-License-Identifier: Apache-2.0
// holdfast bench embedded: how many workflows an engine inside this process runs.
// holdfast bench sleep: what workflows cost that sleep, and how soon they are back after kill -9.
// holdfast bench parked: the same of runs of steps that wait for a person, and how soon one wakes.
// holdfast bench waiting: effects that wait for a stuck executor, and that all are performed.
// holdfast bench runaway: what a workflow that runs away leaves to the others.
#include <CLI/CLI.hpp>
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "cli/bench_embedded.h"
#include "cli/bench_folder.h"
#include "cli/bench_limits.h"
#include "cli/bench_parked.h"
#include "cli/bench_runaway.h"
#include "cli/bench_sleep.h"
#include "cli/bench_waiting.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "env/hardware.h"

namespace holdfast::cli {
namespace {

struct BenchOptions {
  std::string folder = ".";
  bool json = false;
  EmbeddedOptions embedded;
  std::string workflow = "effects";
  std::uint64_t history_rounds = 0;
  std::string plot;
  std::uint64_t count = 1'000'000;
  std::uint64_t wakes = 1000;
  RunawayOptions runaway;
};

__attribute__((format(printf, 1, 2))) void print_figures(const char* format, ...) {
  char line[16 << 10];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  print_line(line);
}

std::string spans_in_json(const Course& course) {
  std::string json;
  for (const CourseSpan& span : course.spans) {
    char text[160];
    std::snprintf(text, sizeof text,
                  R"(%s{"begin_s":%.2f,"per_s":%.0f,"p50_us":%.0f,"p99_us":%.0f,"max_us":%.0f})",
                  json.empty() ? "" : ",", span.begin_s, span.per_s, span.p50_us, span.p99_us,
                  span.max_us);
    json += text;
  }
  return json;
}

// The same with history and without, by turns, each in a world of its own.
base::Result<void> compare_history(const BenchOptions& options) {
  double per_s[2] = {0, 0};
  for (std::uint64_t round = 0; round < options.history_rounds; ++round) {
    for (const bool history : {false, true}) {
      const BenchFolder folder = TRY(BenchFolder::make(options.folder));
      EmbeddedOptions chosen = options.embedded;
      chosen.folder = folder.path();
      chosen.of_steps = options.workflow == "steps";
      chosen.history = history;
      const EmbeddedFigures figures = TRY(bench_embedded(chosen));
      const double now = static_cast<double>(figures.workflows) / figures.seconds;
      per_s[history ? 1 : 0] += now / static_cast<double>(options.history_rounds);
      if (options.json) continue;
      print_figures(
          "%s history: %.0f workflows a second, p99 %.0f us; the index lagged by %llu "
          "records and caught up in %.1f s",
          history ? "with   " : "without", now, figures.course.p99_us,
          static_cast<unsigned long long>(figures.history_lag), figures.history_catch_up_s);
    }
  }
  print_figures(options.json ? R"({"without_per_s":%.1f,"with_per_s":%.1f,"ratio":%.3f})"
                             : "without history %.0f a second, with it %.0f: %.3f of it",
                per_s[0], per_s[1], per_s[1] / per_s[0]);
  return {};
}

base::Result<void> embedded(const BenchOptions& options) {
  if (options.history_rounds != 0) return compare_history(options);
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const DiskLimits limits = TRY(measure_disk(folder.path()));
  EmbeddedOptions chosen = options.embedded;
  chosen.folder = folder.path();
  chosen.of_steps = options.workflow == "steps";
  const EmbeddedFigures figures = TRY(bench_embedded(chosen));
  const double per_s = static_cast<double>(figures.workflows) / figures.seconds;
  const auto in_flight = static_cast<unsigned long long>(chosen.in_flight);
  const auto workflows = static_cast<unsigned long long>(figures.workflows);
  const Course& course = figures.course;
  if (!options.plot.empty()) {
    TRY(write_plot(options.plot, course,
                   std::to_string(workflows) + " workflows of three " + options.workflow + ", " +
                       std::to_string(in_flight) + " in flight"));
  }
  if (options.json) {
    print_figures(
        R"({"in_flight":%llu,"workflows":%llu,"seconds":%.3f,"workflows_per_s":%.1f,"p50_us":%.1f,)"
        R"("p99_us":%.1f,"max_us":%.1f,"longest_stall_ms":%.1f,"first_per_s":%.1f,)"
        R"("last_per_s":%.1f,"cpu_us_per_workflow":%.2f,"peak_mb":%.1f,)"
        R"("syncs_per_workflow":%.4f,"journal_bytes_per_workflow":%.1f,)"
        R"("limits":{"sync_p50_us":%.1f,"append_mb_per_s":%.1f},"hardware":"%s","spans":[%s]})",
        in_flight, workflows, figures.seconds, per_s, course.p50_us, course.p99_us, course.max_us,
        course.stall_ms, course.first_per_s, course.last_per_s, figures.cpu_us_per_workflow,
        figures.peak_mb, figures.syncs_per_workflow, figures.journal_bytes_per_workflow,
        limits.sync_p50_us, limits.append_mb_per_s, env::hardware().c_str(),
        spans_in_json(course).c_str());
    return {};
  }
  print_figures("%llu workflows of three %s in %.1f s, %llu in flight: %.0f a second", workflows,
                options.workflow.c_str(), figures.seconds, in_flight, per_s);
  print_figures("latency: p50 %.0f us, p99 %.0f us, largest %.0f us; p50 is %.2f times four syncs",
                course.p50_us, course.p99_us, course.max_us,
                course.p50_us / (4 * limits.sync_p50_us));
  print_figures("the first 200000: %.0f a second, the last: %.0f; longest stall %.0f ms",
                course.first_per_s, course.last_per_s, course.stall_ms);
  print_figures("each: %.1f us of CPU until the index caught up; peak memory %.0f MB",
                figures.cpu_us_per_workflow, figures.peak_mb);
  print_figures("each: %.3f syncs, %.0f bytes of journal (%.1f MB/s)", figures.syncs_per_workflow,
                figures.journal_bytes_per_workflow,
                figures.journal_bytes_per_workflow * per_s / 1e6);
  print_figures("this disk: a sync of 4 KiB %.0f us, appending 256 KiB at a time %.0f MB/s",
                limits.sync_p50_us, limits.append_mb_per_s);
  print_line(env::hardware());
  return {};
}

base::Result<void> not_all_there() {
  return base::Error(base::ErrorCode::kCorrupt, "not all of them are there again");
}

base::Result<void> sleep(const BenchOptions& options) {
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const SleepFigures figures = TRY(bench_sleep(folder.path(), options.count));
  print_figures(options.json
                    ? R"({"count":%llu,"resident_bytes_per_workflow":%.1f,"recovery_ms":%.1f,)"
                      R"("recovered":%llu})"
                    : "%llu sleeping workflows: %.0f bytes of memory each; after kill -9 ready in "
                      "%.0f ms, %llu of them there",
                static_cast<unsigned long long>(options.count), figures.crowd.resident_bytes_each,
                figures.crowd.recovery_ms, static_cast<unsigned long long>(figures.recovered));
  if (figures.recovered != options.count) return not_all_there();
  return {};
}

base::Result<void> parked(const BenchOptions& options) {
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const DiskLimits limits = TRY(measure_disk(folder.path()));
  const ParkedFigures figures = TRY(bench_parked(folder.path(), options.count, options.wakes));
  const auto count = static_cast<unsigned long long>(options.count);
  const auto recovered = static_cast<unsigned long long>(figures.recovered);
  const auto woken = static_cast<unsigned long long>(figures.woken);
  if (options.json) {
    print_figures(
        R"({"count":%llu,"resident_bytes_per_run":%.1f,"disk_bytes_per_run":%.1f,)"
        R"("recovery_ms":%.1f,"recovered":%llu,"woken":%llu,"wake_p50_us":%.1f,"wake_p99_us":%.1f,)"
        R"("wake_max_us":%.1f,"new_p50_us":%.1f,"new_p99_us":%.1f,)"
        R"("sync":"fdatasync","sync_p50_us":%.1f,"hardware":"%s"})",
        count, figures.crowd.resident_bytes_each, figures.crowd.disk_bytes_each,
        figures.crowd.recovery_ms, recovered, woken, figures.wake_p50_us, figures.wake_p99_us,
        figures.wake_max_us, figures.new_p50_us, figures.new_p99_us, limits.sync_p50_us,
        env::hardware().c_str());
  } else {
    print_figures("%llu runs that wait for a person: %.0f bytes of memory each, %.0f of disk",
                  count, figures.crowd.resident_bytes_each, figures.crowd.disk_bytes_each);
    print_figures("after kill -9 ready in %.0f ms, %llu of them as they were",
                  figures.crowd.recovery_ms, recovered);
    print_figures(
        "%llu woken, one at a time, from the answer until the result was durable: p50 %.0f "
        "us, p99 %.0f us, largest %.0f us",
        woken, figures.wake_p50_us, figures.wake_p99_us, figures.wake_max_us);
    print_figures(
        "by turns as many that had just begun, and never left memory: p50 %.0f us, p99 %.0f us",
        figures.new_p50_us, figures.new_p99_us);
    print_figures("every record is synced (fdatasync) before it counts: one of 4 KiB takes %.0f us",
                  limits.sync_p50_us);
    print_line(env::hardware());
  }
  if (figures.recovered != options.count) return not_all_there();
  return {};
}

base::Result<void> waiting(const BenchOptions& options) {
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const WaitingFigures figures = TRY(bench_waiting(folder.path(), options.count));
  print_figures(
      options.json ? R"({"count":%llu,"resident_bytes_per_effect":%.1f,"recovery_ms":%.1f,)"
                     R"("performed_s":%.1f,"completed":%llu})"
                   : "%llu effects that wait: %.0f bytes of memory each with their workflow; after "
                     "kill -9 ready in %.0f ms, performed in %.1f s, %llu completed",
      static_cast<unsigned long long>(options.count), figures.crowd.resident_bytes_each,
      figures.crowd.recovery_ms, figures.performed_s,
      static_cast<unsigned long long>(figures.completed));
  if (figures.completed != options.count)
    return base::Error(base::ErrorCode::kConflict, "not all of them completed");
  return {};
}

base::Result<void> runaway(const BenchOptions& options) {
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  RunawayOptions chosen = options.runaway;
  chosen.folder = folder.path();
  const RunawayFigures figures = TRY(bench_runaway(chosen));
  print_figures(
      options.json
          ? R"({"load":"%s","before_per_s":%.1f,"beside_per_s":%.1f,"after_per_s":%.1f,"ratio":%.3f,)"
            R"("load_records_per_s":%.1f,"cancels":%llu,"cancel_p50_ms":%.2f,)"
            R"("cancel_p99_ms":%.2f,"stopped_ms":%.1f})"
          : "%s: other workflows %.0f a second before it, %.0f beside it and %.0f after it (%.2f); "
            "it "
            "makes %.0f records a second; %llu cancelled, answered in p50 %.2f ms, p99 %.2f ms; "
            "the load was "
            "stopped in %.0f ms",
      chosen.load.c_str(), figures.before_per_s, figures.beside_per_s, figures.after_per_s,
      figures.beside_per_s / figures.alone_per_s(), figures.load_per_s,
      static_cast<unsigned long long>(figures.cancels), figures.cancel_p50_ms,
      figures.cancel_p99_ms, figures.stopped_ms);
  return {};
}

}  // namespace

void add_bench(CLI::App& app, ExitCode& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "run benchmarks on this machine");
  bench->require_subcommand(1);
  bench->footer("Example: holdfast bench embedded");
  auto options = std::make_shared<BenchOptions>();
  const auto add = [&](const char* name, const char* what,
                       base::Result<void> (*run)(const BenchOptions&)) {
    CLI::App* command = bench->add_subcommand(name, what);
    command->add_option("--dir", options->folder, "folder to write in; default: the current one");
    command->add_flag("--json", options->json, "print JSON");
    command->footer(std::string("Example: holdfast bench ") + name);
    command->callback([options, run, &exit_code] {
      const auto done = run(*options);
      if (!done) exit_code = refuse(done.error());
    });
    return command;
  };
  CLI::App* embedded_command =
      add("embedded", "workflows with three effects in sequence", &embedded);
  embedded_command
      ->add_option("--in-flight", options->embedded.in_flight, "number in flight; default 512")
      ->check(CLI::Range(1, 1024));
  embedded_command
      ->add_option("--history-rounds", options->history_rounds,
                   "compare with and without history, alternating N times")
      ->check(CLI::Range(1, 100));
  embedded_command
      ->add_option("--workflow", options->workflow,
                   "effects: three effects; steps: a step workflow")
      ->check(CLI::IsMember({"effects", "steps"}));
  embedded_command->add_option("--seconds", options->embedded.seconds, "seconds to run; default 10")
      ->check(CLI::Range(0.1, 3600.0));
  embedded_command
      ->add_option("--workflows", options->embedded.workflows,
                   "run this many workflows, however long it takes")
      ->check(CLI::Range(1, 100'000'000));
  embedded_command->add_option(
      "--plot", options->plot,
      "write an SVG plot of throughput and latency over time to this file");
  const auto add_count = [&](CLI::App* command) {
    command->add_option("--count", options->count, "number of workflows; default one million")
        ->check(CLI::Range(1, 100'000'000));
  };
  add_count(add("sleep", "sleeping workflows, and recovery after kill -9", &sleep));
  add_count(add("waiting", "effects that wait for a blocked executor, and recovery after kill -9",
                &waiting));
  CLI::App* runaway_command =
      add("runaway", "throughput that is left beside a runaway workflow", &runaway);
  runaway_command
      ->add_option(
          "--load", options->runaway.load,
          "timers that are always due, or many instances that open effects: echo, handlers")
      ->check(CLI::IsMember({"timers", "echo", "handlers"}));
  runaway_command
      ->add_option("--seconds", options->runaway.seconds, "how long each part is; 5 else")
      ->check(CLI::Range(0.1, 3600.0));
  CLI::App* parked_command =
      add("parked", "step workflows that wait for a person: kill -9, then an answer", &parked);
  add_count(parked_command);
  parked_command->add_option("--wakes", options->wakes, "how many get an answer; default 1000")
      ->check(CLI::Range(1, 1'000'000));
}

}  // namespace holdfast::cli
