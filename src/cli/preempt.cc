// SPDX-License-Identifier: Apache-2.0
// holdfast preempt: asks a workflow to yield, and is how it sees and answers that.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/registry_folder.h"

namespace holdfast::cli {
namespace {

struct PreemptOptions {
  RegistryFolder folder;
  std::string name;
  ClaimOptions claim;
};

ExitCode request(const PreemptOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto requested = (*registry)->request_preempt(options.name);
  if (!requested) return refuse(requested.error());
  print_done(options.folder, printable(options.name), "requested");
  return ExitCode::kDone;
}

ExitCode poll(const PreemptOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto requested = (*registry)->is_preempt_requested(options.name);
  if (!requested) return refuse(requested.error());
  if (options.folder.json) {
    print_line(*requested ? "{\"requested\":true}" : "{\"requested\":false}");
  } else {
    print_line(*requested ? "requested" : "not requested");
  }
  return ExitCode::kDone;
}

ExitCode clear(const PreemptOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto cleared = (*registry)->clear_preempt(options.name, options.claim.claim());
  if (!cleared) return refuse(cleared.error());
  print_done(options.folder, printable(options.name), "cleared");
  return ExitCode::kDone;
}

}  // namespace

void add_preempt(CLI::App& app, ExitCode& exit_code) {
  CLI::App* preempt =
      app.add_subcommand("preempt", "request that a workflow yields, and answer such requests");
  preempt->require_subcommand(1);
  preempt->footer("Example: holdfast preempt request chat");
  auto options = std::make_shared<PreemptOptions>();
  const auto command = [&](const char* name, const char* what,
                           ExitCode (*run)(const PreemptOptions&)) {
    CLI::App* added = preempt->add_subcommand(name, what);
    added->add_option("name", options->name, "the name of the workflow")->required();
    added->callback([options, run, &exit_code] { exit_code = run(*options); });
    return added;
  };
  CLI::App* ask = command("request", "ask a preemptible workflow to yield", &request);
  add_dir_and_json(*ask, options->folder);
  ask->footer("Example: holdfast preempt request chat");
  CLI::App* look = command(
      "poll", "print whether the workflow is asked to yield: requested or not requested", &poll);
  add_dir_and_json(*look, options->folder);
  look->footer("Example: holdfast preempt poll chat");
  CLI::App* answer = command("clear", "acknowledge the request", &clear);
  add_claim(*answer, options->claim);
  add_dir_and_json(*answer, options->folder);
  answer->footer("Example: holdfast preempt clear chat");
}

}  // namespace holdfast::cli
