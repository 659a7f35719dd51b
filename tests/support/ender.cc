// SPDX-License-Identifier: Apache-2.0
// A program with a workflow whose step ends the whole program, each time the result that it waits
// for comes; and the whole command line of Holdfast around it.
#include <unistd.h>

#include <string>
#include <string_view>

#include "holdfast/main.h"
#include "holdfast/workflow.h"

namespace {

using namespace holdfast;

struct Begin {
  static constexpr std::string_view kSchema = "ender/Begin@1";
  std::string id;
};

struct Ends {
  static constexpr std::string_view kWorkflow = "ender/Ends@1";
  struct State {};
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<Ends>;

  static void step(State&, const Begin&, Context& context) { context.timer(context.now()); }
  static void step(State&, const Received<Timer>&, Context&) { ::_exit(9); }
};

}  // namespace

int main(int argc, char** argv) {
  return holdfast::main(argc, argv, {.modules = {Module::of<Ends>("ender/code@1")}});
}
