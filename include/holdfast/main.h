// SPDX-License-Identifier: Apache-2.0
// main: the command line of Holdfast, with workflows of your own in it. Your binary is the program:
//
//   int main(int argc, char** argv) {
//     return holdfast::main(argc, argv,
//                           {.modules = {shop_module()}, .handlers = {handle<Charge>(charge)}});
//   }
//
// Link holdfast::cli for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "holdfast/engine.h"
#include "holdfast/handler.h"
#include "holdfast/module.h"
#include "holdfast/worker.h"

namespace holdfast {

// What the program brings with it.
struct Program {
  std::vector<Module> modules = {};
  std::vector<Handler> handlers = {};

  // How `serve` and `dev` open a world, where no flag and no setting says otherwise: where requests
  // may go, what may be run, where secrets are, how long what has ended is kept. Its folder,
  // modules, handlers, log and whether definitions are applied are said elsewhere.
  EngineOptions engine = {};

  // What `dev` does first with these, so that there is something to see; and what it then says can
  // be tried, as paths of the server.
  std::function<Result<Done>(Engine& engine)> play = {};
  std::function<Result<Done>(Engine& engine)> play_on = {};  // what may wait for people, besides
  // One piece of the work that `dev --live` begins again and again; numbers grow.
  std::function<Result<Done>(Engine& engine, std::uint64_t number)> play_one = {};
  std::vector<std::string> worth_a_look = {};

  // What `worker` runs besides what its flags name.
  std::vector<TaskFunction> tasks = {};

  // How the program calls itself in its help and in `version`. Without a version of its own it
  // prints that of Holdfast alone.
  std::string name = "holdfast";
  std::string version = {};
};

// Gives what main is to return.
int main(int argc, char** argv, const Program& program);

}  // namespace holdfast
