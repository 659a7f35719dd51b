// SPDX-License-Identifier: Apache-2.0
// The commands that say something about one instance: cancel, pause, resume. Through a server all
// of them; cancel and pause also in the folder of a world that does not run, for an instance that
// ends the program each time it runs (node/intervene.h).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_name.h"
#include "cli/task_rows.h"
#include "gateway/definitions.h"
#include "native/machines.h"
#include "node/intervene.h"
#include "node/local_world.h"
#include "node/refusal.h"

namespace holdfast::cli {
namespace {

struct Kind {
  kernel::Control control;
  const char* name;  // also the last part of its route
  Reach reach;
};

struct ControlOptions {
  Where where;
  std::string id;
  std::string reason;
  bool any_file_system = false;
};

base::Result<void> through_server(const Where& where, const InstanceId& id, const Kind& kind,
                                  const std::string& reason) {
  const ServerApi api = TRY(ServerApi::at(where));
  const std::string body = reason.empty() ? "{}" : R"({"reason":)" + json_text(reason) + "}";
  TRY(api.post(path_of(id) + "/" + kind.name, body));
  return {};
}

// The id of an instance has two slashes. A word with none is a task graph, with one a task, unless
// it is the name of a workflow, which has a version.
bool names_tasks(const std::string& id) {
  return std::ranges::count(id, '/') < 2 && id.find('@') == std::string::npos;
}

base::Result<void> cancel_tasks(const Where& where, const std::string& id,
                                const std::string& reason) {
  const ServerApi api = TRY(ServerApi::at(where));
  const std::string body = reason.empty() ? "{}" : R"({"reason":)" + json_text(reason) + "}";
  const bool is_graph = id.find('/') == std::string::npos;
  const std::string path = is_graph ? graph_path(id) : TRY(find_task(api, id)).path();
  TRY(api.post(path + "/cancel", body));
  return {};
}

base::Result<void> in_folder(const ControlOptions& options, const std::string& path,
                             const InstanceId& id, const Kind& kind,
                             const std::vector<Module>& modules) {
  TRY(ExistingWorld::open(path));  // opening it in earnest would begin one where there is none
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  const native::Machines machines(modules);
  node::LocalWorldOptions world_options;
  world_options.any_file_system = options.any_file_system;
  const auto world =
      TRY(node::LocalWorld::open(*disk, *random, *process, path, machines, world_options));
  remark_recovery(world->recovery());
  auto definitions = TRY(gateway::Definitions::load(world->world().program().closure()));
  const base::Bytes key = TRY(definitions.key_of(id.workflow, id.key));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  const kernel::Answer answer = TRY(
      node::intervene(world->world(), world->journal(), *random, static_cast<std::uint64_t>(now_ns),
                      {kind.control, id.workflow, key, options.reason, "local"}));
  TRY(world->journal().close());
  if (auto refused = node::refusal(answer)) return std::move(*refused).within(id.text());
  return {};
}

ExitCode run(const ControlOptions& options, const Kind& kind, const std::vector<Module>& modules) {
  const auto where = settle(options.where, kind.reach);
  if (!where) return misused(where.error().to_string());
  if (kind.control == kernel::Control::kCancel && names_tasks(options.id)) {
    if (where->is_offline())
      return misused("tasks are cancelled through the server that runs them: --server");
    const auto cancelled = cancel_tasks(*where, options.id, options.reason);
    if (!cancelled) return refuse_or_retry(cancelled.error());
    print_line(where->json ? "{}" : printable(options.id) + ": cancel");
    return ExitCode::kDone;
  }
  const auto id = parse_id(options.id);
  if (!id) return refuse_or_retry(id.error());
  const auto done = where->is_offline() ? in_folder(options, where->world, *id, kind, modules)
                                        : through_server(*where, *id, kind, options.reason);
  if (!done) return refuse_or_retry(done.error());
  print_line(where->json ? "{}" : printable(id->text()) + ": " + kind.name);
  return ExitCode::kDone;
}

}  // namespace

void add_control(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  const auto add = [&](const Kind& kind, const char* what, const char* example) {
    auto options = std::make_shared<ControlOptions>();
    CLI::App* command = app.add_subcommand(kind.name, what);
    add_where(*command, options->where, kind.reach);
    const bool is_cancel = kind.control == kernel::Control::kCancel;
    command
        ->add_option(
            "id", options->id,
            is_cancel ? "WORKFLOW/KEY, the id of a task graph, or GRAPH/TASK" : "WORKFLOW/KEY")
        ->required()
        ->check(not_empty());
    command->add_option("--reason", options->reason, "reason, kept in the journal");
    if (kind.reach != Reach::kServerOnly)
      command->add_flag("--any-file-system", options->any_file_system,
                        "with --world: allow file systems that lose data in a power cut");
    command->footer(std::string("Example: holdfast ") + example);
    command->callback(
        [options, kind, &exit_code, &modules] { exit_code = run(*options, kind, modules); });
  };
  add({kernel::Control::kCancel, "cancel", Reach::kBoth},
      "cancel an instance, a task graph or a task",
      "cancel demo/Order@1/o-7 --reason 'by mistake'");
  add({kernel::Control::kPause, "pause", Reach::kBoth},
      "pause an instance: it keeps its mail and takes no steps", "pause demo/Order@1/o-7");
  add({kernel::Control::kResume, "resume", Reach::kServerOnly}, "resume a paused instance",
      "resume demo/Order@1/o-7");
}

}  // namespace holdfast::cli
