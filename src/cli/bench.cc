// SPDX-License-Identifier: Apache-2.0
// holdfast bench embedded: how many workflows an engine inside this process runs.
// holdfast bench sleep: what workflows cost that sleep, and how soon they are back after kill -9.
#include <CLI/CLI.hpp>
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "cli/bench_embedded.h"
#include "cli/bench_folder.h"
#include "cli/bench_limits.h"
#include "cli/bench_sleep.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace holdfast::cli {
namespace {

struct Options {
  std::string folder = ".";
  bool json = false;
  EmbeddedOptions embedded;
  std::uint64_t history_rounds = 0;
  std::uint64_t count = 1'000'000;
};

__attribute__((format(printf, 1, 2))) void print_figures(const char* format, ...) {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  print_line(line);
}

// The same with history and without, by turns, each in a world of its own.
base::Result<void> compare_history(const Options& options) {
  double per_s[2] = {0, 0};
  for (std::uint64_t round = 0; round < options.history_rounds; ++round) {
    for (const bool history : {false, true}) {
      const BenchFolder folder = TRY(BenchFolder::make(options.folder));
      EmbeddedOptions chosen = options.embedded;
      chosen.folder = folder.path();
      chosen.history = history;
      const EmbeddedFigures figures = TRY(bench_embedded(chosen));
      const double now = static_cast<double>(figures.workflows) / figures.seconds;
      per_s[history ? 1 : 0] += now / static_cast<double>(options.history_rounds);
      if (options.json) continue;
      print_figures(
          "%s history: %.0f workflows a second, p99 %.0f us; the index lagged by %llu "
          "records and caught up in %.1f s",
          history ? "with   " : "without", now, figures.p99_us,
          static_cast<unsigned long long>(figures.history_lag), figures.history_catch_up_s);
    }
  }
  print_figures(options.json ? R"({"without_per_s":%.1f,"with_per_s":%.1f,"ratio":%.3f})"
                             : "without history %.0f a second, with it %.0f: %.3f of it",
                per_s[0], per_s[1], per_s[1] / per_s[0]);
  return {};
}

base::Result<void> embedded(const Options& options) {
  if (options.history_rounds != 0) return compare_history(options);
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const DiskLimits limits = TRY(measure_disk(folder.path()));
  EmbeddedOptions chosen = options.embedded;
  chosen.folder = folder.path();
  const EmbeddedFigures figures = TRY(bench_embedded(chosen));
  const double per_s = static_cast<double>(figures.workflows) / figures.seconds;
  const auto in_flight = static_cast<unsigned long long>(chosen.in_flight);
  const auto workflows = static_cast<unsigned long long>(figures.workflows);
  if (options.json) {
    print_figures(
        R"({"in_flight":%llu,"workflows":%llu,"seconds":%.3f,"workflows_per_s":%.1f,"p50_us":%.1f,)"
        R"("p99_us":%.1f,"syncs_per_workflow":%.4f,"journal_bytes_per_workflow":%.1f,)"
        R"("limits":{"sync_p50_us":%.1f,"append_mb_per_s":%.1f}})",
        in_flight, workflows, figures.seconds, per_s, figures.p50_us, figures.p99_us,
        figures.syncs_per_workflow, figures.journal_bytes_per_workflow, limits.sync_p50_us,
        limits.append_mb_per_s);
    return {};
  }
  print_figures("%llu workflows of three effects in %.1f s, %llu in flight: %.0f a second",
                workflows, figures.seconds, in_flight, per_s);
  print_figures("latency: p50 %.0f us, p99 %.0f us; p50 is %.2f times four syncs", figures.p50_us,
                figures.p99_us, figures.p50_us / (4 * limits.sync_p50_us));
  print_figures("each: %.3f syncs, %.0f bytes of journal (%.1f MB/s)", figures.syncs_per_workflow,
                figures.journal_bytes_per_workflow,
                figures.journal_bytes_per_workflow * per_s / 1e6);
  print_figures("this disk: a sync of 4 KiB %.0f us, appending 256 KiB at a time %.0f MB/s",
                limits.sync_p50_us, limits.append_mb_per_s);
  return {};
}

base::Result<void> sleep(const Options& options) {
  const BenchFolder folder = TRY(BenchFolder::make(options.folder));
  const SleepFigures figures = TRY(bench_sleep(folder.path(), options.count));
  const auto count = static_cast<unsigned long long>(options.count);
  const auto recovered = static_cast<unsigned long long>(figures.recovered);
  print_figures(options.json
                    ? R"({"count":%llu,"resident_bytes_per_workflow":%.1f,"recovery_ms":%.1f,)"
                      R"("recovered":%llu})"
                    : "%llu sleeping workflows: %.0f bytes of memory each; after kill -9 ready in "
                      "%.0f ms, %llu of them there",
                count, figures.resident_bytes_per_workflow, figures.recovery_ms, recovered);
  if (figures.recovered != options.count)
    return base::Error(base::ErrorCode::kCorrupt, "not all of them are there again");
  return {};
}

}  // namespace

void add_bench(CLI::App& app, ExitCode& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "measure this machine with an engine inside");
  bench->require_subcommand(1);
  bench->footer("Example: holdfast bench embedded");
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* what,
                       base::Result<void> (*run)(const Options&)) {
    CLI::App* command = bench->add_subcommand(name, what);
    command->add_option("--dir", options->folder, "the folder to write in; this one else");
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, run, &exit_code] {
      const auto done = run(*options);
      if (!done) exit_code = refuse(done.error());
    });
    return command;
  };
  CLI::App* embedded_command =
      add("embedded", "workflows of three effects, one after the other", &embedded);
  embedded_command
      ->add_option("--in-flight", options->embedded.in_flight, "how many at a time; 512 else")
      ->check(CLI::Range(1, 1024));
  embedded_command
      ->add_option("--history-rounds", options->history_rounds,
                   "compare with and without history, so many times by turns")
      ->check(CLI::Range(1, 100));
  embedded_command->add_option("--seconds", options->embedded.seconds, "how long; 10 else")
      ->check(CLI::Range(0.1, 3600.0));
  add("sleep", "workflows that sleep, and kill -9", &sleep)
      ->add_option("--count", options->count, "how many; a million else")
      ->check(CLI::Range(1, 100'000'000));
}

}  // namespace holdfast::cli
