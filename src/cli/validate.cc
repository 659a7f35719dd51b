// SPDX-License-Identifier: Apache-2.0
// holdfast validate: compiles a task document, and shows its plan or all that is wrong with it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "bundle/source.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/printable.h"
#include "steps/draw.h"
#include "tasks/compile.h"

namespace holdfast::cli {
namespace {

struct ValidateOptions {
  std::string file;
  std::vector<std::string> types;
  std::string draw;
  std::size_t max_tasks = tasks::kDefaultMaxTasks;
  bool json = false;
};

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

tasks::Compiled compile_file(const ValidateOptions& options) {
  tasks::Compiled refused;
  auto json = bundle::read_as_json(options.file);
  if (!json) {
    refused.errors.push_back(std::move(json).error());
    return refused;
  }
  codec::Normaliser normaliser;
  auto value = normaliser.from_json(codec::Schema::any(), *json);
  if (!value) {
    refused.errors.push_back(std::move(value).error());
    return refused;
  }
  tasks::CompileOptions with{.task_types = {}, .max_tasks = options.max_tasks};
  if (!options.types.empty()) with.task_types = options.types;
  return tasks::compile(codec::View::of(*value), with);
}

// Names of nodes on one line, the first few of them.
std::string some_names(const tasks::Plan& plan, const std::vector<tasks::NodeIndex>& nodes) {
  constexpr std::size_t kShown = 5;
  if (nodes.empty()) return "-";
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + plan.nodes[nodes[i]].name;
  if (nodes.size() > kShown) text += " and " + std::to_string(nodes.size() - kShown) + " more";
  return text;
}

void print_plan(const tasks::Plan& plan) {
  constexpr std::size_t kShown = 50;
  std::string summary = plan.name + ": " + counted(plan.run_count, "task", "tasks") + ", " +
                        counted(plan.dependency_count, "dependency", "dependencies");
  if (plan.epoch_count > 0) summary += ", " + counted(plan.epoch_count, "epoch", "epochs");
  print_line(printable(summary));
  std::vector<std::vector<std::string>> table{{"NODE", "TYPE", "TASKS", "EPOCH", "DEPENDS ON"}};
  for (std::size_t i = 0; i < std::min(plan.nodes.size(), kShown); ++i) {
    const tasks::PlanNode& node = plan.nodes[i];
    table.push_back({node.name, node.type, std::to_string(node.tasks().count),
                     node.epoch ? std::to_string(*node.epoch) : "-",
                     some_names(plan, node.dependencies)});
  }
  print_table(table);
  if (plan.nodes.size() > kShown)
    print_line("and " + counted(plan.nodes.size() - kShown, "node", "nodes") +
               " more; --json lists all");
}

void write_number(codec::Buffer& out, std::string_view name, std::uint64_t number) {
  codec::write_text(out, name);
  codec::write_nat(out, number);
}

void write_plan(codec::Buffer& out, const tasks::Plan& plan) {
  codec::write_map_head(out, 5);
  codec::write_text(out, "name");
  codec::write_text(out, plan.name);
  write_number(out, "tasks", plan.run_count);
  write_number(out, "dependencies", plan.dependency_count);
  write_number(out, "epochs", plan.epoch_count);
  codec::write_text(out, "nodes");
  codec::write_list_head(out, plan.nodes.size());
  for (const tasks::PlanNode& node : plan.nodes) {
    codec::write_map_head(out, 5);
    codec::write_text(out, "name");
    codec::write_text(out, node.name);
    codec::write_text(out, "type");
    codec::write_text(out, node.type);
    write_number(out, "tasks", node.tasks().count);
    codec::write_text(out, "epoch");
    node.epoch ? codec::write_nat(out, *node.epoch) : codec::write_null(out);
    codec::write_text(out, "dependsOn");
    codec::write_list_head(out, node.dependencies.size());
    for (const tasks::NodeIndex dependency : node.dependencies)
      codec::write_text(out, plan.nodes[dependency].name);
  }
}

void print_validation_json(const tasks::Compiled& compiled) {
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "plan");
  compiled.plan ? write_plan(out, *compiled.plan) : codec::write_null(out);
  codec::write_text(out, "errors");
  write_errors(out, compiled.errors);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

base::Result<ExitCode> draw_plan(const tasks::Plan& plan, const std::string& format) {
  steps::Picture picture;
  picture.title = {plan.name};
  const auto id_of = [](tasks::NodeIndex node) { return "n" + std::to_string(node); };
  for (tasks::NodeIndex i = 0; i < plan.nodes.size(); ++i) {
    const tasks::PlanNode& node = plan.nodes[i];
    std::vector<std::string> notes{node.type};
    if (node.is_foreach()) notes.push_back(counted(node.tasks().count, "task", "tasks"));
    picture.nodes.push_back({.id = id_of(i), .label = node.name, .notes = std::move(notes)});
    for (const tasks::NodeIndex dependency : node.dependencies)
      picture.edges.push_back({id_of(dependency), id_of(i), "", false});
  }
  print(TRY(steps::draw(picture, *steps::drawing_format(format))));
  return ExitCode::kDone;
}

ExitCode validate(const ValidateOptions& options) {
  const tasks::Compiled compiled = compile_file(options);
  if (options.json) print_validation_json(compiled);
  if (!compiled.plan) {
    // The last of many says how many more there were.
    const std::size_t count = compiled.errors.reported();
    const std::string shown =
        count > tasks::kMaxProblems ? "more than 20 errors" : counted(count, "error", "errors");
    return refuse(shown + " in " + options.file, compiled.errors);
  }
  if (options.json) return ExitCode::kDone;
  if (options.draw.empty()) {
    print_plan(*compiled.plan);
    return ExitCode::kDone;
  }
  const auto drawn = draw_plan(*compiled.plan, options.draw);
  return drawn ? *drawn : refuse(drawn.error());
}

}  // namespace

void add_validate(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "check a task document, and show its tasks and dependencies");
  command->add_option("file", options->file, "a task document in JSON or YAML")
      ->required()
      ->check(not_empty());
  command
      ->add_option("--type", options->types,
                   "a task type that exists; may be given again; without it any type is accepted")
      ->allow_extra_args(false);  // or it would swallow the file behind it
  command->add_option("--max-tasks", options->max_tasks, "refuse a graph with more tasks than this")
      ->check(CLI::Range(std::size_t{1}, tasks::kMostTasks))
      ->capture_default_str();
  CLI::Option* draw = command->add_option("--draw", options->draw,
                                          "print the graph as a picture: mermaid, dot or svg");
  draw->check(CLI::IsMember({"mermaid", "dot", "svg"}));
  command->add_flag("--json", options->json, "print JSON")->excludes(draw);
  command->footer(
      "Example: holdfast validate examples/tasks/digest.yaml\n"
      "         holdfast validate examples/tasks/digest.yaml --draw svg > digest.svg");
  command->callback([options, &exit_code] { exit_code = validate(*options); });
}

}  // namespace holdfast::cli
