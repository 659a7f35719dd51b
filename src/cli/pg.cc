// SPDX-License-Identifier: Apache-2.0
// holdfast pg: the schema in a database through which applications start workflows.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "codec/view.h"
#include "gateway/documents.h"
#include "postgres/install.h"

namespace holdfast::cli {
namespace {

struct PgOptions {
  std::string conninfo;
  std::string exec_role;
  bool force = false;
  bool json = false;
};

base::Result<std::unique_ptr<postgres::Patience>> patience() {
  return std::make_unique<postgres::Patience>(TRY(executors::WakeUp::make()));
}

void print_document(const codec::Buffer& document) {
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(document.view()), codec::JsonStyle::kIndented)));
}

base::Result<void> install(const PgOptions& options, postgres::Connection& connection,
                           bool must_exist) {
  if (must_exist && !TRY(postgres::find_installed(connection))) {
    return base::Error(base::ErrorCode::kNotFound, "schema holdfast",
                       "is not installed; holdfast pg install does that");
  }
  const int before = TRY(postgres::install(connection));
  if (!options.exec_role.empty())
    TRY(connection.run("SELECT holdfast.set_exec_role($1)", {options.exec_role}));
  const int now = postgres::newest_version();
  if (options.json) {
    codec::Buffer out;
    codec::write_map_head(out, 2);
    gateway::put_number(out, "before", static_cast<std::uint64_t>(before));
    gateway::put_number(out, "version", static_cast<std::uint64_t>(now));
    print_document(out);
  } else if (before == 0) {
    print_line("installed version " + std::to_string(now));
  } else if (before == now) {
    print_line("version " + std::to_string(now) + " is installed already");
  } else {
    print_line("upgraded from version " + std::to_string(before) + " to " + std::to_string(now));
  }
  return {};
}

base::Result<void> show_status(const PgOptions& options, postgres::Connection& connection) {
  const auto found = TRY(postgres::find_installed(connection));
  if (!found) {
    return base::Error(base::ErrorCode::kNotFound, "schema holdfast",
                       "is not installed; holdfast pg install does that");
  }
  if (!options.json) {
    print_table({{"version", std::to_string(found->version)},
                 {"newest", std::to_string(postgres::newest_version())},
                 {"owner", printable(found->owner)},
                 {"source", found->source},
                 {"open requests", std::to_string(found->open_requests)},
                 {"live instances", std::to_string(found->live_instances)}});
    for (const auto& world : found->worlds)
      print_line("world " + world.id + (world.is_served ? " is served" : " is not served"));
    return {};
  }
  codec::Buffer out;
  codec::write_map_head(out, 7);
  gateway::put_number(out, "version", static_cast<std::uint64_t>(found->version));
  gateway::put_number(out, "newest", static_cast<std::uint64_t>(postgres::newest_version()));
  gateway::put(out, "owner", printable(found->owner));
  gateway::put(out, "source", found->source);
  gateway::put_number(out, "open_requests", static_cast<std::uint64_t>(found->open_requests));
  gateway::put_number(out, "live_instances", static_cast<std::uint64_t>(found->live_instances));
  codec::write_text(out, "worlds");
  codec::write_list_head(out, found->worlds.size());
  for (const auto& world : found->worlds) {
    codec::write_map_head(out, 2);
    gateway::put(out, "world", world.id);
    gateway::put_flag(out, "served", world.is_served);
  }
  print_document(out);
  return {};
}

base::Result<void> uninstall(const PgOptions& options, postgres::Connection& connection) {
  TRY(postgres::uninstall(connection, options.force));
  print_line(options.json ? "{}" : "uninstalled");
  return {};
}

using Action = std::function<base::Result<void>(const PgOptions&, postgres::Connection&)>;

ExitCode run(const PgOptions& options, const Action& action) {
  const auto wait = patience();
  if (!wait) return refuse(wait.error());
  auto connection = postgres::Connection::open(options.conninfo, **wait);
  if (!connection) return refuse(connection.error());
  const auto done = action(options, *connection);
  return done ? ExitCode::kDone : refuse(done.error());
}

CLI::App* add(CLI::App& group, const char* name, const char* what, ExitCode& exit_code,
              std::shared_ptr<PgOptions> options, Action action) {
  CLI::App* command = group.add_subcommand(name, what);
  command->add_option("conninfo", options->conninfo, "connection string, as for psql")->required();
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example: holdfast pg " + std::string(name) +
                  " 'host=/run/postgresql dbname=shop'");
  command->callback(
      [options, action = std::move(action), &exit_code] { exit_code = run(*options, action); });
  return command;
}

}  // namespace

void add_pg(CLI::App& app, ExitCode& exit_code) {
  CLI::App* group = app.add_subcommand("pg", "start workflows inside transactions of PostgreSQL");
  group->require_subcommand(1);
  auto options = std::make_shared<PgOptions>();
  const auto add_exec_role = [&](CLI::App* command) {
    command->add_option("--exec-role", options->exec_role,
                        "role that runs the SQL of flows: a plain LOGIN role without other rights");
  };
  add_exec_role(add(*group, "install", "install the schema holdfast in a database, or upgrade it",
                    exit_code, options,
                    [](const PgOptions& said, postgres::Connection& connection) {
                      return install(said, connection, false);
                    }));
  add_exec_role(add(*group, "upgrade", "upgrade the schema to the version of this program",
                    exit_code, options,
                    [](const PgOptions& said, postgres::Connection& connection) {
                      return install(said, connection, true);
                    }));
  add(*group, "status", "show what is installed", exit_code, options, show_status);
  CLI::App* remove = add(*group, "uninstall", "remove the schema with all its rows", exit_code,
                         options, uninstall);
  remove->add_flag("--force", options->force, "also with open requests and running instances");
  group->footer("Example: holdfast pg install 'host=/run/postgresql dbname=shop'");
}

}  // namespace holdfast::cli
