// SPDX-License-Identifier: Apache-2.0
// holdfast batch: cancel, pause or resume all instances that a filter finds.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"

namespace holdfast::cli {
namespace {

struct BatchOptions {
  Where where;
  std::string action;
  std::string workflow;
  std::string status;
  std::string key;
  std::string words;
  std::string reason;
  bool paused = false;
  bool dry_run = false;
  bool no_wait = false;
};

constexpr std::chrono::milliseconds kAskAgain{200};

std::string member(const char* name, const std::string& text) {
  return "\"" + std::string(name) + "\":" + json_text(text);
}

std::string body_of(const BatchOptions& options) {
  std::string filter;
  const auto add = [&](const std::string& text) { filter += (filter.empty() ? "" : ",") + text; };
  if (!options.workflow.empty()) add(member("workflow", options.workflow));
  if (!options.status.empty()) add(member("status", options.status));
  if (!options.key.empty()) add(member("key", options.key));
  if (!options.words.empty()) add(member("words", options.words));
  if (options.paused) add("\"paused\":true");
  return "{" + member("action", options.action) + ",\"filter\":{" + filter + "}," +
         member("reason", options.reason) + ",\"dry_run\":" + (options.dry_run ? "true" : "false") +
         "}";
}

void print_batch(codec::View batch) {
  const auto count = [&](const char* name) { return std::to_string(number_in(batch, name)); };
  const std::string expected = (flag_in(batch, "exact") ? "" : "more than ") + count("expected");
  if (flag_in(batch, "dry_run")) {
    print_line(text_in(batch, "action") + ": " + expected + " instances");
    for (const codec::View name : list_in(batch, "examples"))
      print_line("  " + printable(id_in(name).text()));
    return;
  }
  print_line(text_in(batch, "batch") + ": " + text_in(batch, "action") + " " +
             text_in(batch, "status") + ": " + count("done") + " done, " + count("unchanged") +
             " unchanged, " + count("failed") + " failed of " + expected);
  for (const codec::View each : list_in(batch, "errors"))
    print_line("  " + printable(text_in(each, "workflow")) + " " + shown(each.find("key")) + ": " +
               printable(text_in(each, "error")));
}

base::Result<ExitCode> run_batch(const BatchOptions& options, const Where& where) {
  const ServerApi api = TRY(ServerApi::at(where));
  Document batch = TRY(api.post("/v1/batches", body_of(options))).document;
  const std::string path = "/v1/batches/" + text_in(batch.view(), "batch");
  while (!options.no_wait && text_in(batch.view(), "status") == "running") {
    std::this_thread::sleep_for(kAskAgain);
    batch = TRY(api.get(path));
  }
  const std::string status = text_in(batch.view(), "status");
  print_either(where, batch.view(), print_batch);
  const bool is_fine = status == "running" || status == "finished";
  return is_fine && number_in(batch.view(), "failed") == 0 ? ExitCode::kDone : ExitCode::kRefused;
}

}  // namespace

void add_batch(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<BatchOptions>();
  CLI::App* command =
      app.add_subcommand("batch", "cancel, pause or resume all instances that a filter finds");
  add_where(*command, options->where, Reach::kServerOnly);
  command->add_option("action", options->action, "cancel, pause or resume")
      ->required()
      ->check(CLI::IsMember({"cancel", "pause", "resume"}));
  command->add_option("--workflow", options->workflow, "only instances of this workflow");
  command->add_option("--status", options->status, "waiting (if nothing is said) or running")
      ->check(CLI::IsMember({"waiting", "running"}));
  command->add_option("--key", options->key, "only those whose key is a text that begins so");
  command->add_option("--words", options->words, "only those that have put out these words");
  command->add_flag("--paused", options->paused, "only those that are paused");
  command->add_option("--reason", options->reason, "for the record");
  command->add_flag("--dry-run", options->dry_run, "only count them, and show some");
  command->add_flag("--no-wait", options->no_wait, "do not wait for the end of the batch");
  command->footer("Example: holdfast batch cancel --workflow demo/Order@1 --dry-run");
  command->callback([options, &exit_code] {
    const auto where = settle(options->where, Reach::kServerOnly);
    if (!where) {
      exit_code = misused(where.error().to_string());
      return;
    }
    const auto done = run_batch(*options, *where);
    exit_code = done ? *done : refuse_or_retry(done.error());
  });
}

}  // namespace holdfast::cli
