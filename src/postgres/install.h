// SPDX-License-Identifier: Apache-2.0
// Installs the schema `holdfast` in a database, upgrades it and removes it. Each is one transaction
// and needs no other right than to create a schema.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "postgres/connection.h"

namespace holdfast::postgres {

// The version that this program installs.
int newest_version() noexcept;

struct Installed {
  int version = 0;
  std::string source;  // names this installation
  std::string owner;
  std::int64_t open_requests = 0;
  std::int64_t live_instances = 0;
  struct World {
    std::string id;
    bool is_served = false;
  };
  std::vector<World> worlds;
};

// Nothing: it is not installed. kConflict: there is a schema of this name that is not ours.
base::Result<std::optional<Installed>> find_installed(Connection& connection);

// The version before, 0 if there was none. kConflict: it is newer than this program.
base::Result<int> install(Connection& connection);

// kConflict: requests are open or instances run, unless `anyway`.
base::Result<void> uninstall(Connection& connection, bool anyway);

}  // namespace holdfast::postgres
