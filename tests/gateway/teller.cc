// SPDX-License-Identifier: Apache-2.0
// The program of the tests that need workflows of another kind than the demo's: one that puts out
// what it is told to, one whose effect is performed outside, and one whose steps take their time.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "holdfast/main.h"
#include "holdfast/outside_effect.h"
#include "holdfast/workflow.h"

namespace {

// Puts out `count` words, each of so many letters; 0 ends the tale, `leave` takes it away.
struct Tell {
  static constexpr std::string_view kSchema = "test/Tell@1";
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t letters = 0;
  bool leave = false;
};

struct Word {
  static constexpr std::string_view kSchema = "test/Word@1";
  std::uint64_t number = 0;
  std::string letters;
};

struct Tale {
  static constexpr std::string_view kWorkflow = "test/Tale@1";
  struct State {
    std::uint64_t told = 0;
  };
  using Entry = Word;
  using Events = holdfast::Events<holdfast::On<Tell, &Tell::name>>;
  using Context = holdfast::Context<Tale>;

  static void step(State& state, const Tell& tell, Context& context) {
    for (std::uint64_t i = 0; i < tell.count; ++i)
      context.put(Word{++state.told, std::string(tell.letters, 'x')});
    if (tell.leave) return context.remove();
    if (tell.count == 0) context.complete(state.told);
  }
};

struct Paint {
  static constexpr std::string_view kEffect = "test/paint@1";
  static constexpr holdfast::Executor kExecutor = holdfast::outside();
  struct Params {
    std::string colour;
  };
  struct Receipt {
    std::uint64_t litres = 0;
  };
};

struct Order {
  static constexpr std::string_view kSchema = "test/Order@1";
  std::string house;
  std::string colour;
};

// A house that somebody paints, who says how far it is.
struct House {
  static constexpr std::string_view kWorkflow = "test/House@1";
  struct State {
    std::uint64_t signs = 0;
  };
  using Events = holdfast::Events<holdfast::On<Order, &Order::house>>;
  using Effects = holdfast::Effects<Paint>;
  using Context = holdfast::Context<House>;

  static void step(State&, const Order& order, Context& context) {
    context.open<Paint>({.colour = order.colour});
  }
  static void step(State& state, const holdfast::Progress<Paint>&, Context&) { ++state.signs; }
  static void step(State&, const holdfast::Received<Paint>& painted, Context& context) {
    if (!painted.ok()) return context.fail(painted.error.code, painted.error.message);
    context.complete(painted.receipt.litres);
  }
};

struct Carry {
  static constexpr std::string_view kSchema = "test/Carry@1";
  std::string name;
  std::uint64_t ms = 0;
};

// Whoever lives through this again needs as long as it took.
struct Burden {
  static constexpr std::string_view kWorkflow = "test/Burden@1";
  struct State {
    std::uint64_t carried = 0;
  };
  using Events = holdfast::Events<holdfast::On<Carry, &Carry::name>>;
  using Context = holdfast::Context<Burden>;

  static void step(State& state, const Carry& carry, Context& context) {
    std::this_thread::sleep_for(std::chrono::milliseconds(carry.ms));
    context.complete(++state.carried);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return holdfast::main(argc, argv,
                        {.modules = {holdfast::Module::of<Tale, House, Burden>("test/code@1")}});
}
