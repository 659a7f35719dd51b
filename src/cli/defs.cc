// SPDX-License-Identifier: Apache-2.0
// holdfast defs check: loads a bundle and says what is in it and what is wrong with it.
#include <CLI/CLI.hpp>
#include <deque>
#include <memory>

#include "base/hex.h"
#include "bundle/source.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "defs/builtin.h"
#include "steps/check_graph.h"
#include "steps/graph_codec.h"

namespace holdfast::cli {
namespace {

struct DefsOptions {
  std::string bundle;
  std::string system;
  std::vector<std::string> with;
  bool json = false;
};

struct DefinitionRow {
  std::string name;
  std::string kind;
  std::string hash;
};

std::vector<DefinitionRow> rows_of(const defs::Bundle& bundle) {
  std::vector<DefinitionRow> rows;
  const auto add = [&](const defs::Entry& entry) {
    rows.push_back({std::string(defs::name_of(entry.definition)),
                    std::string(defs::kind_of(entry.definition)), entry.hash.to_text()});
  };
  for (const auto& [name, entry] : bundle.catalogue.entries()) add(entry);
  if (bundle.manifest) add(*bundle.manifest);
  return rows;
}

void print_definitions_json(const std::vector<DefinitionRow>& rows, const codec::Errors& errors) {
  codec::Buffer out;
  const auto field = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  codec::write_map_head(out, 2);
  codec::write_text(out, "definitions");
  codec::write_list_head(out, rows.size());
  for (const DefinitionRow& row : rows) {
    codec::write_map_head(out, 3);
    field("name", row.name);
    field("kind", row.kind);
    field("hash", row.hash);
  }
  codec::write_text(out, "errors");
  write_errors(out, errors);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

// The graphs of step workflows: their form, whether they can run, and whether they are those that
// the entry points are of.
void check_graphs(const defs::Bundle& bundle, codec::Errors& errors) {
  for (const auto& [name, entry] : bundle.catalogue.entries()) {
    const auto* workflow = std::get_if<defs::WorkflowDef>(&entry.definition);
    if (workflow == nullptr || !workflow->graph) continue;
    const auto graph = steps::read_graph(codec::View::of(*workflow->graph), "$.graph");
    if (!graph) {
      errors.push_back(base::invalid(name, graph.error().to_string()));
      continue;
    }
    codec::Errors found;
    steps::check_graph(*graph, found);
    for (const base::Error& error : found) errors.push_back(base::invalid(name, error.to_string()));
    if (!workflow->impl.entrypoint.ends_with("#" + base::to_hex(graph->digest().bytes)))
      errors.push_back(base::invalid(name, "$.graph: the entry point is of another graph"));
  }
}

ExitCode check(const DefsOptions& options) {
  // Each layer stands on the one before it: the system's, then the libraries, then the bundle.
  std::deque<defs::Bundle> layers;
  const defs::Catalogue* below = &defs::builtin_catalogue();
  codec::Errors errors;
  const auto stack = [&](const std::string& path, const defs::Catalogue* on,
                         defs::Reserved reserved) {
    layers.push_back(bundle::load_bundle(path, on, reserved));
    below = &layers.back().catalogue;
    errors.append(std::move(layers.back().errors));
  };
  if (!options.system.empty()) stack(options.system, nullptr, defs::Reserved::kAllowed);
  for (const std::string& library : options.with) stack(library, below, defs::Reserved::kRefused);
  stack(options.bundle, below, defs::Reserved::kRefused);

  check_graphs(layers.back(), errors);

  const std::vector<DefinitionRow> rows = rows_of(layers.back());
  if (options.json) {
    print_definitions_json(rows, errors);
  } else {
    std::vector<std::vector<std::string>> table{{"NAME", "KIND", "HASH"}};
    for (const DefinitionRow& row : rows) table.push_back({row.name, row.kind, row.hash});
    print_table(table);
  }
  if (errors.empty()) return ExitCode::kDone;
  const std::string count =
      errors.reported() == 1 ? "1 error" : std::to_string(errors.reported()) + " errors";
  return refuse(count + " in " + options.bundle, errors);
}

}  // namespace

void add_defs(CLI::App& app, ExitCode& exit_code) {
  CLI::App* defs = app.add_subcommand("defs", "check definitions");
  defs->require_subcommand(1);
  defs->footer("Example: holdfast defs check examples/orders");
  auto options = std::make_shared<DefsOptions>();
  CLI::App* command =
      defs->add_subcommand("check", "list the definitions of a bundle and all errors in it");
  command
      ->add_option("bundle", options->bundle, "a file or folder with definitions in JSON or YAML")
      ->required();
  command
      ->add_option("--with", options->with,
                   "a bundle whose definitions may be used; may be given again")
      ->allow_extra_args(false);  // or it would swallow the bundle behind it
  command->add_option("--system", options->system,
                      "use these sys/ definitions instead of the built-in ones");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example: holdfast defs check examples/orders");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace holdfast::cli
