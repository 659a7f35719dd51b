// SPDX-License-Identifier: Apache-2.0
// holdfast completion: what makes a shell complete our commands. It is made from the commands
// themselves, so it knows all of them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"

namespace holdfast::cli {
namespace {

struct Flag {
  std::string name;                 // "--status"
  std::vector<std::string> values;  // empty: any
};

struct Words {
  std::string path;  // "gov propose"; empty: the program itself
  std::vector<std::string> commands;
  std::vector<Flag> flags;
  std::vector<std::string> arguments;  // what an argument may be, where that is known
  bool takes_instance = false;
};

// What CLI::IsMember and CLI::Transformer allow stands in the name of the type: "TEXT:{a,b}",
// "INT:value in {a->1,b->2} OR {1,2}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin == std::string::npos ? 0 : begin);
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    const std::string value = type.substr(at, comma - at);
    values.push_back(value.substr(0, value.find("->")));
    at = comma + 1;
  }
  return values;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Words>& all) {
  Words words;
  words.path = path;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.commands.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames())
      words.flags.push_back({"--" + name, values_of(*option)});
    if (option->get_positional()) {
      words.takes_instance |= option->get_name(true) == "id";
      for (const std::string& value : values_of(*option)) words.arguments.push_back(value);
    }
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

std::string names_of(const std::vector<Flag>& flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  return joined(names);
}

// The commands so far, then what may follow; behind an option what that may be.
std::string bash(const std::vector<Words>& all) {
  std::string text = R"(# holdfast completion bash: source it, or put it into /etc/bash_completion.d
_holdfast() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}" path="" i
  local -A known=(
)";
  for (const Words& words : all)
    text += "    [\"" + words.path + " \"]=\"" + joined(words.commands) + " " +
            joined(words.arguments) + " " + names_of(words.flags) + "\"\n";
  text += "  )\n  local -A instances=(\n";
  for (const Words& words : all) {
    if (words.takes_instance) text += "    [\"" + words.path + " \"]=1\n";
  }
  text += "  )\n  local -A values=(\n";
  for (const Words& words : all)
    for (const Flag& flag : words.flags)
      if (!flag.values.empty())
        text += "    [\"" + words.path + " " + flag.name + "\"]=\"" + joined(flag.values) + "\"\n";
  text += R"sh(  )
  for ((i = 1; i < COMP_CWORD; i++)); do
    local longer="${path:+$path }${COMP_WORDS[i]}"
    [[ -n "${known["$longer "]+x}" ]] && path="$longer"
  done
  if [[ -n "${values["$path $before"]+x}" ]]; then
    COMPREPLY=($(compgen -W "${values["$path $before"]}" -- "$word"))
    return
  fi
  if [[ -n "${instances["$path "]+x}" && "$word" != -* ]]; then
    # Bash takes words apart at some letters that are in names.
    local line="${COMP_LINE:0:${COMP_POINT:-0}}" whole="$word" taken="" name
    [[ -n "$line" ]] && whole="${line##* }"
    [[ "$COMP_WORDBREAKS" == *@* && "$whole" == *[@:=]* ]] && taken="${whole%"${whole##*[@:=]}"}"
    COMPREPLY=()
    while read -r name _; do
      [[ "$name" == "$whole"* ]] && COMPREPLY+=("$(printf %q "${name#"$taken"}")")
    done < <("${COMP_WORDS[0]}" ls --limit 200 2>/dev/null | tail -n +2)
    [[ ${#COMPREPLY[@]} -ne 0 ]] && return
  fi
  COMPREPLY=($(compgen -W "${known["$path "]}" -- "$word"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _holdfast holdfast
)sh";
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
    for (const std::string& argument : words.arguments)
      text += "complete -c holdfast -f -n \"" + when + "\" -a " + argument + "\n";
    if (words.takes_instance) {
      text +=
          "complete -c holdfast -f -n \"" + when +
          "\" -a '(holdfast ls --limit 200 2>/dev/null | tail -n +2 | string split -f1 \" \")'\n";
    }
    for (const Flag& flag : words.flags) {
      text += "complete -c holdfast -n \"" + when + "\" -l " + flag.name.substr(2);
      if (!flag.values.empty()) text += " -x -a \"" + joined(flag.values) + "\"";
      text += "\n";
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print a shell completion script");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Instances are completed where `holdfast ls` finds them without options, by "
      "HOLDFAST_SERVER,\n"
      "HOLDFAST_WORLD or holdfast.yaml.\n"
      "Example: source <(holdfast completion bash)");
  command->callback([shell, &app] {
    std::vector<Words> all;
    collect(app, "", all);
    print(*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
  });
}

}  // namespace holdfast::cli
