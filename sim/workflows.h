// SPDX-License-Identifier: Apache-2.0
// What the simulated world does: the demo's orders, which call outside and undo; alarms, which are
// nothing but timers; relays, which pass a word on among themselves, more often than one tick
// allows; and storms, whose timers are always due.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "demo/order/order.h"
#include "holdfast/module.h"
#include "holdfast/value.h"

namespace holdfast::sim {

struct AlarmSet {
  static constexpr std::string_view kSchema = "sim/AlarmSet@1";
  std::string id;
  std::uint64_t first_ns = 0;  // when the first one rings
  std::uint64_t apart_ns = 0;
  std::uint64_t count = 0;
};

struct Alarm {
  static constexpr std::string_view kWorkflow = "sim/Alarm@1";
  struct State {
    std::uint64_t wanted = 0;
    std::uint64_t rung = 0;
  };
  struct Entry {
    std::uint64_t rung = 0;
  };
  using Events = holdfast::Events<On<AlarmSet, &AlarmSet::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<Alarm>;

  static void step(State& alarm, const AlarmSet& set, Context& context);
  static void step(State& alarm, const Received<Timer>& rung, Context& context);
};

// Many timers that are due at once, each of which is set again when it rings, so often in all.
struct StormBegun {
  static constexpr std::string_view kSchema = "sim/StormBegun@1";
  std::string id;
  std::uint64_t timers = 0;
  std::uint64_t again = 0;
};

struct Storm {
  static constexpr std::string_view kWorkflow = "sim/Storm@1";
  struct State {
    std::uint64_t open = 0;
    std::uint64_t again = 0;
  };
  using Events = holdfast::Events<On<StormBegun, &StormBegun::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<Storm>;

  static void step(State& storm, const StormBegun& begun, Context& context);
  static void step(State& storm, const Received<Timer>& rung, Context& context);
};

struct WordPassed {
  static constexpr std::string_view kSchema = "sim/WordPassed@1";
  std::string id;
  std::uint64_t hops = 0;
};

struct Relay {
  static constexpr std::string_view kWorkflow = "sim/Relay@1";
  struct State {
    std::uint64_t passed = 0;
  };
  using Events = holdfast::Events<On<WordPassed, &WordPassed::id>>;
  using Effects = holdfast::Effects<>;
  using Emits = holdfast::Emits<WordPassed>;
  using Context = holdfast::Context<Relay>;

  static void step(State& relay, const WordPassed& word, Context& context);
};

// Whether memory runs out in the next step of an alarm or a relay; asked while a node runs, and not
// while it replays. One simulation at a time has one.
extern std::function<bool()> runs_out_of_memory;

// Without those of steps, or with.
enum class Load : bool { kPlain, kWithSteps };
std::vector<Module> modules(Load load);

// The definitions of modules as an ApplyManifest tick takes them.
base::Bytes definitions(const std::vector<Module>& modules);

// A typed value as a tick takes it.
template <class T>
base::Bytes value_of(const T& value) {
  codec::Buffer bytes;
  {
    Writer out(bytes);
    detail::Form<T>::write(out, value);
  }
  return bytes.to_bytes();
}

}  // namespace holdfast::sim
