// SPDX-License-Identifier: Apache-2.0
// holdfast workers: which workers a server has, and what they may get.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"

namespace holdfast::cli {
namespace {

struct WorkersOptions {
  Where where;
  std::string worker;
  std::string reason;
  bool all = false;
};

std::string heard_text(codec::View worker) {
  const auto silent = worker.find("silent_ms");
  if (!silent || !silent->nat()) return "-";
  return std::to_string(*silent->nat() / 1000) + "s ago";
}

void print_workers(const std::vector<codec::View>& workers) {
  std::vector<std::vector<std::string>> table{
      {"WORKER", "NAME", "NODE", "STATUS", "HEARD", "RUNNING", "SLOTS"}};
  for (const codec::View worker : workers) {
    const bool is_silent = text_in(worker, "mode") == "active" && !flag_in(worker, "live");
    table.push_back({text_in(worker, "worker"), printable(text_in(worker, "name")),
                     printable(text_in(worker, "node")),
                     is_silent ? "silent" : text_in(worker, "mode"), heard_text(worker),
                     std::to_string(number_in(worker, "running")),
                     std::to_string(number_in(worker, "slots"))});
  }
  print_table(table);
}

void print_worker(codec::View worker) {
  print_workers({worker});
  if (const std::string reason = text_in(worker, "reason"); !reason.empty()) {
    const std::string by = text_in(worker, "by");
    print_line("reason: " + printable(reason) + (by.empty() ? "" : " (" + printable(by) + ")"));
  }
  print_line("offers: " + shown(worker.find("offer"), 1000));
  if (const auto recipes = worker.find("recipes")) {
    std::string line = "serves:";
    for (const codec::View recipe : list_in(*recipes, "serving"))
      line += " " + printable(std::string(recipe.text().value_or("")));
    if (list_in(*recipes, "serving").empty()) line += " no recipe";
    const std::string swapping = text_in(*recipes, "swapping");
    if (!swapping.empty()) line += "; swapping to " + printable(swapping);
    const std::string problem = text_in(*recipes, "problem");
    if (!problem.empty()) line += "; the last swap was not done: " + printable(problem);
    print_line(line);
  }
}

// Workers that are gone are left out unless all are asked for.
base::Result<ExitCode> list_all(const ServerApi& api, const WorkersOptions& options, bool is_json) {
  std::vector<Document> pages;
  for (std::string after; pages.empty() || !after.empty();) {
    pages.push_back(TRY(
        api.get("/v1/workers?limit=1000" + (after.empty() ? "" : "&after=" + path_part(after)))));
    after = text_in(pages.back().view(), "next");
  }
  if (is_json && pages.size() == 1) {
    print_json(pages.front().view());
    return ExitCode::kDone;
  }
  std::vector<codec::View> rows;
  for (const Document& page : pages) {
    if (is_json) print_json(page.view());
    for (const codec::View worker : list_in(page.view(), "workers")) {
      const std::string mode = text_in(worker, "mode");
      if (options.all || (mode != "lost" && mode != "left")) rows.push_back(worker);
    }
  }
  if (!is_json) print_workers(rows);
  return ExitCode::kDone;
}

base::Result<ExitCode> show_worker(const ServerApi& api, const WorkersOptions& options,
                                   bool is_json) {
  const Document worker = TRY(api.get("/v1/workers/" + path_part(options.worker)));
  is_json ? print_json(worker.view()) : print_worker(worker.view());
  return ExitCode::kDone;
}

base::Result<ExitCode> change_worker(const ServerApi& api, const WorkersOptions& options,
                                     const std::string& what, bool is_json) {
  const std::string body =
      options.reason.empty() ? "{}" : R"({"reason":)" + json_text(options.reason) + "}";
  const ApiAnswer answer =
      TRY(api.post("/v1/workers/" + path_part(options.worker) + "/" + what, body));
  is_json ? print_json(answer.document.view()) : print_worker(answer.document.view());
  return ExitCode::kDone;
}

}  // namespace

void add_workers(CLI::App& app, ExitCode& exit_code) {
  CLI::App* workers = app.add_subcommand("workers", "list, drain and cordon workers");
  workers->require_subcommand(1);
  workers->footer("Example: holdfast workers ls");
  using Run =
      base::Result<ExitCode> (*)(const ServerApi&, const WorkersOptions&, const std::string&, bool);
  const auto add = [&](const char* name, const char* what, const char* example, bool takes_worker,
                       bool takes_reason, Run run) {
    auto options = std::make_shared<WorkersOptions>();
    CLI::App* command = workers->add_subcommand(name, what);
    add_where(*command, options->where, Reach::kServerOnly);
    if (takes_worker)
      command->add_option("worker", options->worker, "worker id, or a unique worker name")
          ->required()
          ->check(not_empty());
    if (takes_reason)
      command->add_option("--reason", options->reason, "reason, kept in the journal");
    if (!takes_worker)
      command->add_flag("--all", options->all, "also workers that are lost or have left");
    command->footer(std::string("Example: holdfast workers ") + example);
    command->callback([options, name = std::string(name), run, &exit_code] {
      const auto where = settle(options->where, Reach::kServerOnly);
      if (!where) {
        exit_code = misused(where.error().to_string());
        return;
      }
      const auto api = ServerApi::at(*where);
      if (!api) {
        exit_code = refuse_or_retry(api.error());
        return;
      }
      const auto done = run(*api, *options, name, where->json);
      exit_code = done ? *done : refuse_or_retry(done.error());
    });
  };
  add("ls", "list workers", "ls", false, false,
      [](const ServerApi& api, const WorkersOptions& options, const std::string&, bool is_json) {
        return list_all(api, options, is_json);
      });
  add("show", "show one worker and what it offers", "show trainer", true, false,
      [](const ServerApi& api, const WorkersOptions& options, const std::string&, bool is_json) {
        return show_worker(api, options, is_json);
      });
  add("drain", "let a worker finish what it holds, leave and exit", "drain trainer", true, true,
      change_worker);
  add("cordon", "give a worker no new work, also after it enrols again", "cordon trainer", true,
      true, change_worker);
  add("uncordon", "end a cordon", "uncordon trainer", true, true, change_worker);
}

}  // namespace holdfast::cli
