// SPDX-License-Identifier: Apache-2.0
// holdfast result: what a task has returned.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_name.h"
#include "codec/json_writer.h"

namespace holdfast::cli {
namespace {

struct ResultOptions {
  Where where;
  std::string task;
};

base::Result<ExitCode> print_result(const ResultOptions& options, const ServerApi& api,
                                    const Where& where) {
  const NamedTask task = TRY(find_task(api, options.task));
  const Document answer = TRY(api.get(task.path() + "/result"));
  const auto result = answer.view().find("result");
  if (!result)
    return base::Error(base::ErrorCode::kCorrupt, task.text(), "the answer has no result");
  if (where.json) {
    print_json(*result);
  } else {
    print_line(codec::to_json(*result, codec::JsonStyle::kIndented));
  }
  return ExitCode::kDone;
}

ExitCode run_result(const ResultOptions& options) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = print_result(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

}  // namespace

void add_result(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<ResultOptions>();
  CLI::App* command = app.add_subcommand("result", "print what a task has returned");
  add_where(*command, options->where, Reach::kServerOnly);
  command
      ->add_option("task", options->task,
                   "GRAPH/NAME or GRAPH/NUMBER; GRAPH if it has only one task")
      ->required()
      ->check(not_empty());
  command->footer("Example: holdfast result digest-1/fetch");
  command->callback([options, &exit_code] { exit_code = run_result(*options); });
}

}  // namespace holdfast::cli
