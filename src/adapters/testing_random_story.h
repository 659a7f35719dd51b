// SPDX-License-Identifier: Apache-2.0
// For the tests of loops: a story out of a number. Its graph has fan-outs, joins, error handlers,
// sets of events and events from outside; what a body does follows from the number, from what it
// sees, and from nothing else. Events carry how far they are from the start, so every story ends or
// comes to rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steps/testing_stage.h"

namespace holdfast::adapters::testing {

class RandomStory {
 public:
  explicit RandomStory(std::uint64_t seed) : seed_(seed) {}

  steps::testing::Story make() const {
    steps::testing::Story story;
    story.graph = R"(
      begin: Start -> A | B | A[]
      left*2: A -> B | C | Stop | C[]
      right: B -> A | C | Stop
      middle*3: C | Answer -> D | Stop
      gather: C[] -> D
      some: D[2] -> B
      last*1: D -> Stop | C
      pair: B & D -> C | Stop
      rescue!2: StepFailed -> B | D)";
    for (const char* step :
         {"begin", "left", "right", "middle", "gather", "some", "last", "pair", "rescue"})
      story.bodies[step] = [seed = seed_, name = std::string(step)](
                               const steps::testing::Seen& seen, steps::testing::Doing& doing) {
        act(mixed(seed, name), seen, doing);
      };
    const std::uint64_t events = mixed(seed_, "events") % 5;
    for (std::uint64_t i = 0; i < events; ++i)
      story.events.emplace_back(mixed(seed_, "kind" + std::to_string(i)) % 3 == 0 ? "A" : "Answer",
                                i + 1);
    if (mixed(seed_, "timeout") % 4 == 0) story.timeout_ns = 90'000'000'000'000;
    return story;
  }

 private:
  static std::uint64_t mixed(std::uint64_t seed, std::string_view text) {
    for (const char c : text) seed = mix(seed ^ static_cast<std::uint8_t>(c));
    return seed;
  }
  static std::uint64_t mix(std::uint64_t n) {
    n += 0x9e3779b97f4a7c15;
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
    n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
    return n ^ (n >> 31);
  }

  static void act(std::uint64_t seed, const steps::testing::Seen& seen,
                  steps::testing::Doing& doing) {
    if (seen.is_judging) return void(doing.fails("judged"));
    // The same each time up to a wait: nothing before one depends on what has come.
    std::uint64_t chance = mix(seed ^ mix(seen.item * 131 + seen.numbers.size()) ^ seen.n);
    const auto next = [&chance](std::uint64_t most) {
      chance = mix(chance);
      return chance % most;
    };
    // No two are nearly the same: which of them is first must not depend on how often somebody has
    // looked at the clock.
    const auto delay = [&next] {
      return (1 + next(9)) * 1'000'000'000'000 + next(900'000'000'000);
    };
    const std::uint64_t n = seen.n + 1;
    if (seen.failures < 2 && next(6) == 0) {
      if (next(3) == 0) return void(doing.is_lost());
      return void(next(2) == 0 ? doing.fails("oops", delay()) : doing.fails("oops"));
    }
    if (next(4) == 0) doing.streams("D", n);
    if (next(7) == 0 && n < 6) doing.sends(next(2) == 0 ? "A" : "B", n);
    if (next(6) == 0) {
      if (!seen.waits.contains("w")) return void(doing.waits("w", "Answer", delay()));
      if (const auto answer = seen.waits.at("w")) doing.stores("answer", *answer);
    }
    if (next(4) == 0) {
      const auto found = seen.buffers.find("default");
      if (found != seen.buffers.end() && found->second.size() >= 2) {
        doing.empties();
      } else {
        doing.collects("A", n);
      }
    }
    if (next(5) == 0) {
      const auto found = seen.store.find("count");
      doing.stores("count", found == seen.store.end() ? 1 : found->second + 1, true);
    }
    if (next(40) == 0) doing.cancels("middle");
    if (next(60) == 0) return void(doing.cancels_run("enough"));
    if (n > 9) return void(next(2) == 0 ? doing.returns("Stop", n) : doing.returns_nothing());
    switch (next(8)) {
      case 0: doing.returns_nothing(); break;
      case 1: doing.returns("Stop", n); break;
      case 2: doing.returns("A", n); break;
      case 3: doing.returns("B", n); break;
      case 4: doing.returns("C", n); break;
      case 5: doing.returns("D", n); break;
      default: {
        const bool may_fan_out = (seen.step == "begin" || seen.step == "left") && n < 5;
        if (may_fan_out)
          doing.returns_list(seen.step == "begin" ? "A" : "C", {n, n + 1, n + 2});
        else
          doing.returns("C", n);
      }
    }
  }

  std::uint64_t seed_;
};

}  // namespace holdfast::adapters::testing
