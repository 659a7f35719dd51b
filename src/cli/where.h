// SPDX-License-Identifier: Apache-2.0
// Where: whether a command works on the folder of a world or through a server, as flags, the
// environment and the settings file say it. A flag for one of them overrules the others' word for
// the other.
#pragma once

#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace holdfast::cli {

struct Where {
  std::string world;  // one of these two is there once it is settled
  std::string server;
  std::string token;        // empty: none
  std::string authorities;  // empty: those of the system
  bool json = false;

  bool is_offline() const noexcept { return !world.empty(); }
};

enum class Reach : unsigned char { kBoth, kWorldOnly, kServerOnly };

// --world, --server, --token, --authorities and --json, as far as the reach goes.
void add_where(CLI::App& command, Where& where, Reach reach = Reach::kBoth);

// Fills in what no flag has said. kInvalid: it is not clear where.
base::Result<Where> settle(Where where, Reach reach = Reach::kBoth);

}  // namespace holdfast::cli
