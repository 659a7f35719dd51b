// SPDX-License-Identifier: Apache-2.0
// The commands that let instances begin again or move to another version, through a server: retry,
// restart, migrate.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "holdfast/engine.h"

namespace holdfast::cli {
namespace {

struct RestartOptions {
  Where where;
  std::string id;  // of an instance, or the name of a workflow
  std::string from;
  std::string reason;
};

// A number is a record; anything else is the name of a step.
std::string from_member(const std::string& from) {
  std::uint64_t record = 0;
  const char* const end = from.data() + from.size();
  const auto read = std::from_chars(from.data(), end, record);
  if (read.ec == std::errc() && read.ptr == end) return R"("record":)" + std::to_string(record);
  return R"("step":)" + json_text(from);
}

base::Result<ExitCode> restart(const RestartOptions& options, const Where& where) {
  const InstanceId id = TRY(parse_id(options.id));
  const ServerApi api = TRY(ServerApi::at(where));
  const bool is_retry = options.from.empty();
  std::string body = is_retry ? "" : from_member(options.from);
  if (!options.reason.empty())
    body += (body.empty() ? "" : ",") + (R"("reason":)" + json_text(options.reason));
  const ApiAnswer answer = TRY(api.post(path_of(id) + (is_retry ? "/retry" : "/restart"),
                                        "{" + body + "}", PastLimits{}.time));
  const codec::View document = answer.document.view();
  if (where.json) {
    print_json(document);
  } else {
    print_line(printable(id.text()) + ": restarted from record " +
               std::to_string(number_in(document, "from")) + " by record " +
               std::to_string(number_in(document, "record")));
  }
  return ExitCode::kDone;
}

void print_migrated(codec::View document) {
  print_line(std::to_string(number_in(document, "moved")) + " instances moved, " +
             std::to_string(number_in(document, "stays")) + " stay");
  for (const codec::View each : list_in(document, "staying"))
    print_line(printable(id_in(each).text()) + " stays: " + printable(text_in(each, "why")));
}

base::Result<ExitCode> migrate(const RestartOptions& options, const Where& where) {
  if (std::ranges::count(options.id, '/') != 1) return no_workflow(options.id);
  const ServerApi api = TRY(ServerApi::at(where));
  // The same escaping as for an instance, without its key.
  const std::string name =
      path_of({options.id, ""}).substr(std::string_view("/v1/instances/").size());
  const ApiAnswer answer =
      TRY(api.post("/v1/workflows/" + name + "migrate", "{}", PastLimits{}.time));
  const codec::View document = answer.document.view();
  print_either(where, document, print_migrated);
  return number_in(document, "stays") == 0 ? ExitCode::kDone : ExitCode::kRefused;
}

using Run = base::Result<ExitCode> (*)(const RestartOptions&, const Where&);

ExitCode run(const RestartOptions& options, Run what) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto done = what(options, *where);
  return done ? *done : refuse_or_retry(done.error());
}

}  // namespace

void add_restart(CLI::App& app, ExitCode& exit_code) {
  const auto add = [&](const char* name, const char* what, const char* example, Run how) {
    auto options = std::make_shared<RestartOptions>();
    CLI::App* command = app.add_subcommand(name, what);
    add_where(*command, options->where, Reach::kServerOnly);
    command->footer(std::string("Example: holdfast ") + example);
    command->callback([options, how, &exit_code] { exit_code = run(*options, how); });
    return std::pair(command, options);
  };
  const auto add_instance = [](CLI::App& command, RestartOptions& options) {
    command.add_option("id", options.id, "WORKFLOW/KEY")->required()->check(not_empty());
    command.add_option("--reason", options.reason, "reason, kept in the journal");
  };
  auto [retry_command, retry_options] =
      add("retry", "restart a failed or cancelled instance before the step that failed",
          "retry demo/Order@1/o-7 --reason 'the printer is back'", restart);
  add_instance(*retry_command, *retry_options);

  auto [restart_command, restart_options] =
      add("restart", "restart a failed or cancelled instance from a step or a record",
          "restart demo/Order@1/o-7 --from 1742", restart);
  add_instance(*restart_command, *restart_options);
  restart_command
      ->add_option("--from", restart_options->from,
                   "the number of a record, or the name of a step or an effect: from when it last "
                   "began")
      ->required()
      ->check(not_empty());

  auto [migrate_command, migrate_options] =
      add("migrate", "move instances of earlier versions of a workflow to its present version",
          "migrate demo/Order@1", migrate);
  migrate_command->add_option("workflow", migrate_options->id, "its name")
      ->required()
      ->check(not_empty());
}

}  // namespace holdfast::cli
