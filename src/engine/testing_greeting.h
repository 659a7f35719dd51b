// SPDX-License-Identifier: Apache-2.0
// For the tests of engines and servers: a workflow that says something to somebody, as often as it
// is told to, by an effect that the test performs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/engine.h"

namespace holdfast::engine::testing {

struct Greet {
  static constexpr std::string_view kSchema = "test/Greet@1";
  std::string name;
  std::uint64_t times = 1;
};

struct Nudge {
  static constexpr std::string_view kSchema = "test/Nudge@1";
  std::string name;
};

struct Say {
  static constexpr std::string_view kEffect = "test/say@1";
  static constexpr Executor kExecutor = worker("mouths");
  struct Params {
    std::string text;
  };
  struct Receipt {
    std::string heard;
  };
};

struct Greeting {
  static constexpr std::string_view kWorkflow = "test/Greeting@1";
  struct State {
    std::uint64_t left = 0;
    std::string heard;
  };
  using Events = holdfast::Events<On<Greet, &Greet::name>, On<Nudge, &Nudge::name>>;
  using Effects = holdfast::Effects<Say>;
  using Context = holdfast::Context<Greeting>;

  static void step(State& state, const Greet& greet, Context& context) {
    state.left = greet.times;
    if (state.left == 0) return context.fail("nothing_to_say", "no times");
    context.open<Say>({"hello " + greet.name});
  }
  static void step(State& state, const Nudge&, Context&) { state.heard += "!"; }
  static void step(State& state, const Received<Say>& said, Context& context) {
    if (!said.ok()) return context.fail(said.error.code, said.error.message);
    state.heard += said.receipt.heard;
    if (--state.left == 0) return context.complete(state.heard);
    context.open<Say>({"again"});
  }
};

}  // namespace holdfast::engine::testing
