// SPDX-License-Identifier: Apache-2.0
// A step that writes a text piece by piece, as a language model does: each piece goes to whoever
// follows the run at once, and what the step returns at the end counts once. Run it as any server:
//
//   tokens serve --apply --world ./tokens.world &
//   export HOLDFAST_SERVER=http://127.0.0.1:7411
//   tokens start tokens/Writing@1 '{"id":"a","pieces":1000,"pause_ms":20}'
//   curl -N 'http://127.0.0.1:7411/v1/instances/tokens/Writing@1/a/stream?kinds=event,began_again'
//
// Killed in the middle and started again, the step begins again: an entry `began_again` tells so.
#include "holdfast/main.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "holdfast/steps.h"

struct Prompt {
  static constexpr std::string_view kSchema = "tokens/Prompt@1";
  std::string id;
  std::uint64_t pieces = 0;
  std::uint64_t pause_ms = 0;
};
struct Piece {
  static constexpr std::string_view kSchema = "tokens/Piece@1";
  std::uint64_t number = 0;
  std::string text;
};
struct Written {
  static constexpr std::string_view kSchema = "tokens/Written@1";
  std::uint64_t pieces = 0;
};

struct Writing : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "tokens/Writing@1";
  using Events = holdfast::Events<holdfast::On<Prompt, &Prompt::id>>;
  using Stop = Written;
  using Publishes = holdfast::Publishes<Piece>;

  Written write(const Prompt& prompt, holdfast::StepContext& context) {
    for (std::uint64_t number = 1; number <= prompt.pieces; ++number) {
      std::this_thread::sleep_for(std::chrono::milliseconds(prompt.pause_ms));
      if (!context.publish(Piece{number, "piece " + std::to_string(number)})) break;
    }
    return {prompt.pieces};
  }
  static auto steps() { return holdfast::StepsOf<Writing>().step("write", &Writing::write); }
};

int main(int argc, char** argv) {
  return holdfast::main(argc, argv,
                        {.modules = {holdfast::Module::of<Writing>("tokens/code@1")},
                         .handlers = holdfast::step_handlers(std::make_shared<Writing>())});
}
