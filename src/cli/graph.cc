// SPDX-License-Identifier: Apache-2.0
// holdfast graph: a step workflow, one run of it, or a task graph as a picture. holdfast workflows:
// what there is to draw and to begin.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/draw_tasks.h"
#include "cli/looking.h"
#include "cli/render.h"

namespace holdfast::cli {
namespace {

struct GraphOptions {
  Where where;
  std::string of;
  std::string format = "mermaid";
};

// The name of a workflow has one slash, that of an instance one more.
base::Result<GraphOf> what_of(WorldSource& source, const std::string& text) {
  if (std::ranges::count(text, '/') < 2) return GraphOf{text, {}};
  const InstanceId id = TRY(resolve(source, text));
  return GraphOf{id.workflow, id.key};
}

base::Result<ExitCode> draw(const GraphOptions& options, WorldSource& source, const Where& where) {
  if (options.of.find('/') == std::string::npos && !where.is_offline())
    return draw_tasks(options.of, options.format, where);
  const GraphOf of = TRY(what_of(source, options.of));
  if (where.json) {
    print_json(TRY(source.graph(of)).view());
  } else {
    print(TRY(source.picture(of, options.format)));
  }
  return ExitCode::kDone;
}

base::Result<ExitCode> list_workflows(const GraphOptions&, WorldSource& source,
                                      const Where& where) {
  const Document document = TRY(source.workflows());
  where.json ? print_json(document.view()) : print_workflows(document.view());
  return ExitCode::kDone;
}

using GraphRun = base::Result<ExitCode> (*)(const GraphOptions&, WorldSource&, const Where&);

CLI::App* add_command(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules,
                      const std::shared_ptr<GraphOptions>& options, const char* name,
                      const char* what, GraphRun run) {
  CLI::App* command = app.add_subcommand(name, what);
  add_where(*command, options->where);
  command->callback([&exit_code, &modules, options, run] {
    exit_code = look_at(options->where, modules, [&](WorldSource& source, const Where& where) {
      return run(*options, source, where);
    });
  });
  return command;
}

}  // namespace

void add_graph(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* graph = add_command(app, exit_code, modules, options, "graph",
                                "draw a step workflow, one run of it, or a task graph", draw);
  graph
      ->add_option("of", options->of,
                   "WORKFLOW, WORKFLOW/KEY for a run of it, or the id of a task graph")
      ->required()
      ->check(not_empty());
  graph->add_option("--format", options->format, "mermaid, dot or svg")
      ->check(CLI::IsMember({"mermaid", "dot", "svg"}))
      ->excludes("--json")
      ->capture_default_str();
  graph->footer(
      "Example: holdfast graph demo/RefundCase@1\n"
      "         holdfast graph demo/RefundCase@1/r-2 --format svg > r-2.svg\n"
      "         holdfast graph digest-1");
  add_command(app, exit_code, modules, std::make_shared<GraphOptions>(), "workflows",
              "list workflows and the events that they take", list_workflows)
      ->footer("Example: holdfast workflows --world ./world");
}

}  // namespace holdfast::cli
