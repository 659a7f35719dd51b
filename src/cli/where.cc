// SPDX-License-Identifier: Apache-2.0
#include "cli/where.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/arguments.h"
#include "cli/settings.h"

namespace holdfast::cli {

void add_where(CLI::App& command, Where& where, Reach reach) {
  const bool is_for_servers = reach != Reach::kWorldOnly;
  const bool is_for_folders = reach != Reach::kServerOnly;
  CLI::Option* world =
      command.add_option("--world", where.world, "folder of a world that no process has open");
  CLI::Option* server = command.add_option("--server", where.server, "address of a server");
  world->check(not_empty());
  server->check(not_empty());
  if (is_for_servers && is_for_folders) server->excludes(world);
  if (!is_for_folders) world->group("");
  if (!is_for_servers) server->group("");
  if (is_for_servers) {
    command.add_option("--token", where.token, "API token (HOLDFAST_TOKEN)");
    command.add_option("--authorities", where.authorities,
                       "PEM file with the certificate authorities to trust");
    command.add_option("--client-certificate", where.client_certificate,
                       "PEM file with the client certificate (HOLDFAST_CLIENT_CERTIFICATE)");
    command.add_option("--client-key", where.client_key,
                       "PEM file with the client key (HOLDFAST_CLIENT_KEY)");
  }
  command.add_flag("--json", where.json, "print JSON");
}

void add_folder(CLI::App& command, Where& where) {
  command.add_option("folder", where.folder, "the same as --world")->check(not_empty());
}

base::Result<Where> settle(Where where, Reach reach) {
  if (reach == Reach::kServerOnly && !where.world.empty())
    return base::invalid("--world", "this command needs a server: say --server URL");
  if (reach == Reach::kWorldOnly && !where.server.empty())
    return base::invalid("--server", "this command works on a folder: say --world DIR");
  if (!where.folder.empty()) {
    if (!where.world.empty() || !where.server.empty()) {
      return base::invalid(where.folder, std::string("is a folder, and there is ") +
                                             (where.world.empty() ? "--server" : "--world") +
                                             ", too: say only one of them");
    }
    where.world = std::exchange(where.folder, {});
  }
  const Settings settings = TRY(Settings::load());
  const auto fill = [&](std::string& value, std::string_view key) {
    const Setting* setting = settings.find(key);
    if (value.empty() && setting != nullptr) value = setting->value;
  };
  const bool is_said = !where.world.empty() || !where.server.empty();
  if (!is_said) {
    if (reach != Reach::kServerOnly) fill(where.world, "world");
    if (reach != Reach::kWorldOnly) fill(where.server, "server");
    if (!where.world.empty() && !where.server.empty()) {
      return base::invalid("", "both a world and a server are set, by " +
                                   settings.find("world")->from + " and " +
                                   settings.find("server")->from + ": say --world or --server");
    }
  }
  if (where.world.empty() && where.server.empty()) {
    switch (reach) {
      case Reach::kWorldOnly: return base::invalid("", "say --world DIR, or set HOLDFAST_WORLD");
      case Reach::kServerOnly: return base::invalid("", "say --server URL, or set HOLDFAST_SERVER");
      case Reach::kBoth: break;
    }
    return base::invalid("",
                         "say --world DIR or --server URL, or set HOLDFAST_WORLD or "
                         "HOLDFAST_SERVER");
  }
  if (!where.server.empty()) {
    fill(where.token, "token");
    fill(where.authorities, "authorities");
    fill(where.client_certificate, "client-certificate");
    fill(where.client_key, "client-key");
    if (where.client_certificate.empty() != where.client_key.empty()) {
      return base::invalid(where.client_key.empty() ? "client-key" : "client-certificate",
                           "it is missing: a certificate and its key go together");
    }
  }
  return where;
}

}  // namespace holdfast::cli
