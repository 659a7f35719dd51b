// SPDX-License-Identifier: Apache-2.0
// Task graphs, through a server: submit, tasks, rerun. What watches one is in watch.cc.
#include <CLI/CLI.hpp>
#include <memory>

#include "bundle/source.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_rows.h"

namespace holdfast::cli {
namespace {

struct GraphCommand {
  Where where;
  std::string file;  // submit
  std::string graph;
  std::string id;
  bool failed = false;
  std::uint64_t from = 0;
  std::uint64_t limit = 100;
};

// What a submission prints.
ExitCode print_submitted(const Where& where, codec::View answer) {
  if (where.json) {
    print_json(answer);
    return ExitCode::kDone;
  }
  print_line(text_in(answer, "id"));
  if (flag_in(answer, "repeated")) remark("it was submitted before");
  return ExitCode::kDone;
}

base::Result<ExitCode> submit(const GraphCommand& options, const ServerApi& api,
                              const Where& where) {
  const std::string document = TRY(bundle::read_as_json(options.file));
  std::string body = R"({"document":)" + document;
  if (!options.id.empty()) body += R"(,"id":)" + json_text(options.id);
  const ApiAnswer answer = TRY(api.post("/v1/graphs", body + "}"));
  return print_submitted(where, answer.document.view());
}

base::Result<ExitCode> rerun(const GraphCommand& options, const ServerApi& api,
                             const Where& where) {
  const std::string body = options.id.empty() ? "{}" : R"({"id":)" + json_text(options.id) + "}";
  const ApiAnswer answer = TRY(api.post(graph_path(options.graph) + "/rerun", body));
  return print_submitted(where, answer.document.view());
}

base::Result<ExitCode> list_graphs(const ServerApi& api, const Where& where) {
  const Document document = TRY(api.get("/v1/graphs?limit=50"));
  if (where.json) {
    print_json(document.view());
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> rows{
      {"GRAPH", "NAME", "STATUS", "DONE", "FAILED", "TASKS"}};
  for (const codec::View graph : list_in(document.view(), "graphs")) {
    rows.push_back({text_in(graph, "id"), text_in(graph, "name"), text_in(graph, "status"),
                    std::to_string(number_in(graph, "done")),
                    std::to_string(number_in(graph, "failed")),
                    std::to_string(number_in(graph, "tasks"))});
  }
  print_table(rows);
  return ExitCode::kDone;
}

base::Result<ExitCode> list_tasks(const GraphCommand& options, const ServerApi& api,
                                  const Where& where) {
  if (options.graph.empty()) return list_graphs(api, where);
  const Document document =
      TRY(api.get(graph_path(options.graph) + "/tasks?from=" + std::to_string(options.from) +
                  "&limit=" + std::to_string(options.limit)));
  if (where.json) {
    print_json(document.view());
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> rows{task_heading()};
  for (const codec::View task : list_in(document.view(), "tasks")) rows.push_back(task_row(task));
  print_table(rows);
  if (const std::uint64_t next = number_in(document.view(), "next"))
    remark("there are more: --from " + std::to_string(next));
  return ExitCode::kDone;
}

using GraphAct = base::Result<ExitCode> (*)(const GraphCommand&, const ServerApi&, const Where&);

ExitCode act(const GraphCommand& options, GraphAct run) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = run(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

CLI::App* add_graph_command(CLI::App& app, ExitCode& exit_code,
                            const std::shared_ptr<GraphCommand>& options, const char* name,
                            const char* what, GraphAct run) {
  CLI::App* command = app.add_subcommand(name, what);
  add_where(*command, options->where, Reach::kServerOnly);
  command->callback([options, run, &exit_code] { exit_code = act(*options, run); });
  return command;
}

}  // namespace

void add_graphs(CLI::App& app, ExitCode& exit_code) {
  auto submitted = std::make_shared<GraphCommand>();
  CLI::App* command =
      add_graph_command(app, exit_code, submitted, "submit",
                        "submit a task document; prints the id of its graph", submit);
  command->add_option("file", submitted->file, "a task document in JSON or YAML")
      ->required()
      ->check(not_empty());
  command->add_option("--id", submitted->id,
                      "the id of the graph; submitting the same again under it changes nothing");
  command->footer("Example: holdfast submit examples/tasks/digest.yaml --id digest-1");

  auto listed = std::make_shared<GraphCommand>();
  command =
      add_graph_command(app, exit_code, listed, "tasks",
                        "list the tasks of a graph and their states, or all graphs", list_tasks);
  command->add_option("graph", listed->graph, "graph id; without it, list graphs");
  command->add_option("--from", listed->from, "number of the first task to show");
  command->add_option("--limit", listed->limit, "show at most this many tasks")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->footer("Example: holdfast tasks digest-1");

  auto again = std::make_shared<GraphCommand>();
  command = add_graph_command(app, exit_code, again, "rerun",
                              "run the failed and cancelled tasks of a graph again as a new graph; "
                              "finished tasks keep their results",
                              rerun);
  command->add_option("graph", again->graph, "the id of a graph that has ended")
      ->required()
      ->check(not_empty());
  command->add_flag("--failed", again->failed, "required: run only the tasks that were not done")
      ->required();
  command->add_option("--id", again->id, "the id of the new graph");
  command->footer("Example: holdfast rerun digest-1 --failed --id digest-2");
}

}  // namespace holdfast::cli
