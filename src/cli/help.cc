// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::cli {
namespace {

struct Group {
  const char* name;
  std::vector<std::string> commands;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {"Looking",
       {"ls",        "cells",    "show",     "state",  "timeline", "trace", "why",    "diagnose",
        "workflows", "graph",    "overview", "waits",  "tasks",    "logs",  "result", "watch",
        "workers",   "manifest", "tail",     "stream", "journal",  "verify"}},
      {"Acting",
       {"send",    "start",    "signal",  "schedule", "submit", "rerun",  "cancel", "pause",
        "resume",  "retry",    "restart", "migrate",  "batch",  "apply",  "gov",    "fork",
        "reindex", "snapshot", "gc",      "salvage",  "backup", "restore"}},
      {"Others",
       {"init", "serve", "worker", "dev", "demo", "config", "completion", "token", "defs",
        "validate", "cbor", "bench", "registry", "swap", "preempt", "pg", "version", "help"}}};
  return kGroups;
}

// CLI11 lists the commands of a group in the order in which they were added.
class InOrder : public CLI::Formatter {
 public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    std::string text;
    for (const Group& group : groups()) {
      std::vector<const CLI::App*> members = app->get_subcommands(
          [&](const CLI::App* each) { return each->get_group() == group.name; });
      std::ranges::stable_sort(members, {}, [&](const CLI::App* each) {
        return std::ranges::find(group.commands, each->get_name()) - group.commands.begin();
      });
      text += "\n" + std::string(group.name) + ":\n";
      for (const CLI::App* each : members)
        text += mode == CLI::AppFormatMode::All
                    ? each->help(each->get_name(), CLI::AppFormatMode::Sub) + "\n"
                    : make_subcommand(each);
    }
    return text;
  }
};

}  // namespace

void group_commands(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->group("Others");
    for (const Group& group : groups()) {
      if (std::ranges::count(group.commands, command->get_name()) != 0) command->group(group.name);
    }
  }
  const auto formatter = std::make_shared<InOrder>();
  formatter->column_width(app.get_formatter()->get_column_width());
  app.formatter(formatter);
}

}  // namespace holdfast::cli
