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
  std::string folder;              // the world, said without a flag
  std::string token;               // empty: none
  std::string authorities;         // empty: those of the system
  std::string client_certificate;  // empty: none
  std::string client_key;
  bool json = false;

  bool is_offline() const noexcept { return !world.empty(); }
};

enum class Reach : unsigned char { kBoth, kWorldOnly, kServerOnly };

// --world, --server, --json and what goes with a server, as far as the reach goes. What is beyond
// it is understood, so that it can be said what the command needs instead.
void add_where(CLI::App& command, Where& where, Reach reach = Reach::kBoth);

// The folder of the world as an argument of its own, the same as --world.
void add_folder(CLI::App& command, Where& where);

// Fills in what no flag has said. kInvalid: it is not clear where, or beyond the reach.
base::Result<Where> settle(Where where, Reach reach = Reach::kBoth);

}  // namespace holdfast::cli
