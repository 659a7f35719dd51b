// SPDX-License-Identifier: Apache-2.0
// holdfast logs: what a task printed, and with -f what it prints from now on, until it ends.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/event_follow.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_name.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

struct LogsOptions {
  Where where;
  std::string task;
  bool follow = false;
  std::uint64_t after = 0;
};

// A server that is restarted is waited for.
constexpr milliseconds kLongestAbsence(60'000);
constexpr milliseconds kBetweenTries(500);

class LinePrinter {
 public:
  LinePrinter(bool json, std::uint64_t after) : json_(json), after_(after) {}

  void print(codec::View line) {
    const std::uint64_t number = number_in(line, "n");
    if (number <= after_) return;
    if (after_ != 0 && number > after_ + 1)
      remark(std::to_string(number - after_ - 1) + " lines are not kept any more");
    after_ = number;
    if (json_) return print_json(line);
    const std::uint64_t attempt = number_in(line, "attempt");
    if (attempt_ != 0 && attempt != attempt_) remark("attempt " + std::to_string(attempt));
    attempt_ = attempt;
    if (const std::uint64_t missing = number_in(line, "missing"))
      remark(std::to_string(missing) + " lines never arrived");
    print_line(printable(text_in(line, "text")));
  }

  std::uint64_t after() const noexcept { return after_; }

 private:
  bool json_;
  std::uint64_t after_;
  std::uint64_t attempt_ = 0;
};

base::Result<ExitCode> print_kept(const ServerApi& api, const NamedTask& task,
                                  LinePrinter& printer) {
  for (;;) {
    const Document page =
        TRY(api.get(task.path() + "/logs?after=" + std::to_string(printer.after())));
    const auto lines = list_in(page.view(), "lines");
    for (const codec::View line : lines) printer.print(line);
    if (lines.empty() || !flush_output()) return ExitCode::kDone;
  }
}

base::Result<ExitCode> follow_log(const ServerApi& api, const NamedTask& task,
                                  LinePrinter& printer) {
  for (milliseconds absence(0);;) {
    bool is_over = false;
    const std::string path = task.path() + "/logs?after=" + std::to_string(printer.after());
    auto followed = follow_events(api, path, [&](const StreamEvent& event) {
      absence = milliseconds(0);
      is_over = event.name == "end";
      if (event.name.empty()) {
        if (const auto line = Document::of_json(event.data)) printer.print(line->view());
      }
      return !is_over;
    });
    if (is_over || !output_is_wanted()) return ExitCode::kDone;
    const bool may_pass = followed || followed.error().code() == base::ErrorCode::kUnavailable;
    if (!may_pass || absence >= kLongestAbsence) {
      if (!followed) return std::move(followed).error();
      return base::Error(base::ErrorCode::kUnavailable, task.text(), "the server ends the stream");
    }
    absence += kBetweenTries;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

base::Result<ExitCode> print_log(const LogsOptions& options, const ServerApi& api,
                                 const Where& where) {
  const NamedTask task = TRY(find_task(api, options.task));
  LinePrinter printer(where.json, options.after);
  return options.follow ? follow_log(api, task, printer) : print_kept(api, task, printer);
}

ExitCode run_logs(const LogsOptions& options) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = print_log(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

}  // namespace

void add_logs(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "print what a task wrote");
  add_where(*command, options->where, Reach::kServerOnly);
  command
      ->add_option("task", options->task,
                   "GRAPH/NAME or GRAPH/NUMBER; GRAPH if it has only one task")
      ->required()
      ->check(not_empty());
  command->add_flag("-f,--follow", options->follow, "go on until the task has ended");
  command->add_option("--after", options->after, "only lines after this number");
  command->footer("Example: holdfast logs -f digest-1/fetch");
  command->callback([options, &exit_code] { exit_code = run_logs(*options); });
}

}  // namespace holdfast::cli
