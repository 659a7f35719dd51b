// SPDX-License-Identifier: Apache-2.0
// holdfast help: what --help prints, for those who ask with a word. And what is said of a command
// that there is not.
#include "cli/help_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "tasks/close_word.h"

namespace holdfast::cli {
namespace {

// Null: there is none of this name.
CLI::App* child_of(CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

std::string no_command(const std::string& path, const std::string& word) {
  return "there is no command '" + printable((path.empty() ? "" : path + " ") + word) +
         "'; see holdfast " + (path.empty() ? "" : path + " ") + "--help";
}

}  // namespace

std::string wrong_command(CLI::App& app, int argc, char** argv) {
  CLI::App* at = &app;
  std::string path;
  for (int i = 1; i < argc && has_commands(*at); ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) return {};  // no command has options before the next one
    CLI::App* next = child_of(*at, word);
    if (next == nullptr) return no_command(path, word);
    path += (path.empty() ? "" : " ") + word;
    at = next;
  }
  return {};
}

void add_help(CLI::App& app, ExitCode& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "show the help of a command");
  command->add_option("command", *words, "the command; without it, list all commands");
  command->footer("Example: holdfast help gov propose");
  command->callback([words, &app, &exit_code] {
    CLI::App* at = &app;
    std::string path;
    for (const std::string& word : *words) {
      CLI::App* next = child_of(*at, word);
      if (next == nullptr) {
        exit_code = misused(no_command(path, word));
        return;
      }
      path += (path.empty() ? "" : " ") + word;
      at = next;
    }
    // Its own help would be that of the command that was given, which is this one.
    const std::string name = "holdfast" + (path.empty() ? "" : " " + path);
    print(at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
  });
}

std::string meant_option(const CLI::App& app, const CLI::Error& problem) {
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) == nullptr) return {};
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<std::string> left = command->remaining(true);
  const auto unknown = std::ranges::find_if(
      left, [](const std::string& word) { return word.size() > 3 && word.starts_with("--"); });
  if (unknown == left.end()) return {};
  const std::string word = unknown->substr(0, unknown->find('='));
  tasks::CloseWord close(word);
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& name : names) close.consider(name);
  return close.question();
}

}  // namespace holdfast::cli
