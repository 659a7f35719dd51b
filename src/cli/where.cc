// SPDX-License-Identifier: Apache-2.0
#include "cli/where.h"

#include <CLI/CLI.hpp>

#include "cli/settings.h"

namespace holdfast::cli {

void add_where(CLI::App& command, Where& where, Reach reach) {
  CLI::Option* world = nullptr;
  if (reach != Reach::kServerOnly)
    world =
        command.add_option("--world", where.world, "the folder of a world that nobody has open");
  if (reach != Reach::kWorldOnly) {
    CLI::Option* server = command.add_option("--server", where.server, "the address of a server");
    if (world != nullptr) server->excludes(world);
    command.add_option("--token", where.token, "what the server knows you by (HOLDFAST_TOKEN)");
    command.add_option("--authorities", where.authorities,
                       "a PEM file: whose certificates of servers are good");
  }
  command.add_flag("--json", where.json, "print JSON");
}

base::Result<Where> settle(Where where, Reach reach) {
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
  }
  return where;
}

}  // namespace holdfast::cli
