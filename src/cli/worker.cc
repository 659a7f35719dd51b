// SPDX-License-Identifier: Apache-2.0
// holdfast worker: runs tasks of a server on this machine.
#include "holdfast/worker.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/registry_folder.h"
#include "cli/where.h"
#include "env/descriptor_limit.h"
#include "errors/translate.h"
#include "holdfast/main.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kWorkerDescriptors = 16'384;
constexpr std::size_t kMaxTokenBytes = 4096;

struct WorkerFlags {
  Where where;
  std::string token_file;
  std::vector<std::string> labels;
  std::string drain_timeout = "60s";
  std::string swap_deadline = "60s";
  std::string preempt_after = "60s";
  WorkerOptions options;
};

void log_worker_line(std::string_view line) {
  const std::string shown = "holdfast: " + printable(line) + "\n";
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

base::Result<std::string> token_in(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token))
    return base::invalid("--token-file", path + " cannot be read or is empty");
  while (token.ends_with('\r') || token.ends_with(' ')) token.pop_back();
  if (token.size() > kMaxTokenBytes) return base::invalid("--token-file", path + " is too large");
  return token;
}

base::Result<std::chrono::milliseconds> worker_time(const std::string& flag,
                                                    const std::string& text) {
  const auto read = duration_ns(flag, text);
  if (!read) return errors::inside(read.error());
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(*read));
}

base::Result<WorkerOptions> worker_options(const WorkerFlags& flags) {
  const Where where = TRY(settle(flags.where, Reach::kServerOnly));
  WorkerOptions options = flags.options;
  options.server = where.server;
  options.token = flags.token_file.empty() ? where.token : TRY(token_in(flags.token_file));
  options.authorities = where.authorities;
  options.client_certificate = where.client_certificate;
  options.client_key = where.client_key;
  for (const std::string& label : flags.labels) {
    const std::size_t equals = label.find('=');
    if (equals == 0 || equals == std::string::npos)
      return base::invalid("--label", "'" + label + "' is no label: expected NAME=VALUE");
    options.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  options.drain_timeout = TRY(worker_time("--drain-timeout", flags.drain_timeout));
  options.swap_deadline = TRY(worker_time("--swap-deadline", flags.swap_deadline));
  options.preempt_after = TRY(worker_time("--preempt-after", flags.preempt_after));
  options.drains_on_signals = true;
  options.log = log_worker_line;
  return options;
}

ExitCode run_worker(const WorkerFlags& flags, const Program& program) {
  auto options = worker_options(flags);
  if (!options) return misused(options.error().to_string());
  // Before there is any other thread.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  env::raise_descriptor_limit(kWorkerDescriptors);
  auto worker = Worker::open(std::move(*options), program.tasks);
  if (!worker) return refuse(worker.error());
  const auto ran = (*worker)->run();
  return ran ? ExitCode::kDone : refuse(ran.error());
}

}  // namespace

void add_worker(CLI::App& app, ExitCode& exit_code, const Program& program) {
  CLI::App* command = app.add_subcommand("worker", "run tasks from a server on this machine");
  auto flags = std::make_shared<WorkerFlags>();
  WorkerOptions& options = flags->options;
  options.slots = std::max(1U, std::thread::hardware_concurrency());
  add_where(*command, flags->where, Reach::kServerOnly);
  command->remove_option(command->get_option("--json"));  // it prints nothing but its log
  command->add_option("--token-file", flags->token_file, "file with an API token of role worker");
  command->add_option("--dir", options.dir, "folder for the worker's identity and outbox")
      ->capture_default_str()
      ->check(not_empty());
  command->add_option("--name", options.name,
                      "name of the worker; default: generated once per folder");
  command->add_option("--node-name", options.node, "name of the machine; default: the host name");
  command->add_option("--queue", options.queues, "queue to serve; may be repeated")
      ->capture_default_str();
  command->add_option("--slots", options.slots, "maximum number of tasks at once")
      ->capture_default_str();
  command->add_option("--label", flags->labels,
                      "NAME=VALUE that tasks can require; may be repeated");
  command
      ->add_option("--recipe", options.recipes,
                   "recipe that this machine can serve, for tasks that need it; may be repeated")
      ->delimiter(',');
  command->add_option("--registry", options.registry,
                      "folder of the registry in which tasks hold leases for their recipes");
  command->add_option("--swap-command", options.swap_command,
                      "shell command that loads the recipe $HOLDFAST_RECIPE");
  command
      ->add_option("--swap-deadline", flags->swap_deadline,
                   "how long a swap waits for tasks to yield")
      ->capture_default_str();
  command
      ->add_option("--preempt-after", flags->preempt_after,
                   "how long a recipe is served before tasks are asked to yield to another")
      ->capture_default_str();
  command->add_option("--python", options.python, "a Python file whose functions are tasks");
  command->add_option("--node", options.javascript,
                      "a JavaScript file whose functions are tasks, for Node.js");
  command->add_option("--exec", options.programs,
                      "a program that tasks of type process may run; may be repeated");
  command->add_option("--http-host", options.http_hosts,
                      "HOST[:PORT][/private] that tasks of type http may reach; may be repeated");
  command
      ->add_option("--drain-timeout", flags->drain_timeout,
                   "how long running tasks may take after SIGTERM")
      ->capture_default_str();
  command->footer(
      "SIGTERM drains the worker: it takes no new work, finishes its tasks and exits.\n"
      "A second SIGTERM returns running tasks to the server at once.\n"
      "Example: holdfast worker --server http://127.0.0.1:7411 --python tasks.py");
  command->callback([flags, &exit_code, &program] { exit_code = run_worker(*flags, program); });
}

}  // namespace holdfast::cli
