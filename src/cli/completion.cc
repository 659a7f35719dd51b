// SPDX-License-Identifier: Apache-2.0
// holdfast completion: what makes a shell complete our commands. It is made from the commands
// themselves, so it knows all of them.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"

namespace holdfast::cli {
namespace {

struct Words {
  std::string path;  // "gov propose"; empty: the program itself
  std::vector<std::string> commands;
  std::vector<std::string> flags;
};

void collect(const CLI::App& app, const std::string& path, std::vector<Words>& all) {
  Words words;
  words.path = path;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.commands.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
  }
  all.push_back(words);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), all);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The commands so far, then what may follow.
std::string bash(const std::vector<Words>& all) {
  std::string text = R"(# holdfast completion bash: source it, or put it into /etc/bash_completion.d
_holdfast() {
  local word="${COMP_WORDS[COMP_CWORD]}" path="" i
  local -A known=(
)";
  for (const Words& words : all)
    text += "    [\"" + words.path + " \"]=\"" + joined(words.commands) + " " +
            joined(words.flags) + "\"\n";
  text += R"(  )
  for ((i = 1; i < COMP_CWORD; i++)); do
    local longer="${path:+$path }${COMP_WORDS[i]}"
    [[ -n "${known["$longer "]+x}" ]] && path="$longer"
  done
  COMPREPLY=($(compgen -W "${known["$path "]}" -- "$word"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _holdfast holdfast
)";
  return text;
}

// zsh understands what bash has.
std::string zsh(const std::vector<Words>& all) {
  return "#compdef holdfast\nautoload -U +X bashcompinit && bashcompinit\n" + bash(all);
}

std::string fish(const std::vector<Words>& all) {
  std::string text =
      "# holdfast completion fish: put it into ~/.config/fish/completions/holdfast.fish\n";
  for (const Words& words : all) {
    const std::string when = words.path.empty() ? "__fish_use_subcommand"
                                                : "string match -qr -- '^holdfast " + words.path +
                                                      "( |$)' (commandline -pc)";
    for (const std::string& command : words.commands)
      text += "complete -c holdfast -n \"" + when + "\" -a " + command + "\n";
    for (const std::string& flag : words.flags)
      text += "complete -c holdfast -n \"" + when + "\" -l " + flag.substr(2) + "\n";
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "print what makes a shell complete these commands");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: source <(holdfast completion bash)");
  command->callback([shell, &app] {
    std::vector<Words> all;
    collect(app, "", all);
    print(*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
  });
}

}  // namespace holdfast::cli
