// SPDX-License-Identifier: Apache-2.0
// ServingFlags: what a server goes by, as flags, the environment and the settings file say it, and
// the program itself where none of these does.
#pragma once

#include <deque>
#include <string>

#include "base/result.h"
#include "cli/serving.h"
#include "cli/settings.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace holdfast::cli {

class ServingFlags {
 public:
  // A flag for every setting of a server. It must outlive the command.
  explicit ServingFlags(CLI::App& command);

  // With the definitions and the code of the program. `world`: what a flag says, empty if none
  // does. kInvalid: a setting is none, or it is not said which world.
  base::Result<ServingOptions> settle(const Program& program, const std::string& world,
                                      const std::string& otherwise) const;

 private:
  struct Flag {
    std::string_view key;
    std::string value;
    const CLI::Option* option = nullptr;
  };

  std::deque<Flag> flags_;  // which stay where they are
};

}  // namespace holdfast::cli
