// SPDX-License-Identifier: Apache-2.0
// For the tests of loops: a run, written before each of its inputs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "adapters/testing_story.h"

namespace holdfast::adapters::testing {

// A run, and what it was before each of its inputs.
struct Taken {
  struct Turn {
    Bytes before;
    Bytes input;
    std::vector<std::string> lines;  // that came of it
    std::size_t sent = 0;            // events from outside, by then
  };
  std::vector<Turn> turns;
  Bytes end;
  std::string ending;
};

class Taker : public StepDecorator {
 public:
  explicit Taker(StoryAdapter& outside) : StepDecorator(outside), outside_(outside) {}
  const StepLoop* loop = nullptr;
  Taken taken;

  Result<Done> journal(const StepInput& input) override {
    finish();
    taken.turns.push_back({loop->write(), to_bytes(input), {}, outside_.sent});
    return Done{};
  }
  void finish() {
    if (!taken.turns.empty()) taken.turns.back().lines = std::move(outside_.lines);
    outside_.lines.clear();
  }

 private:
  StoryAdapter& outside_;
};

inline Taken take(const Story& story, const StepProgram& program) {
  StoryAdapter outside(story);
  Taker taker(outside);
  StepLoop loop(program, taker);
  taker.loop = &loop;
  EXPECT_TRUE(loop.run());
  taker.finish();
  taker.taken.end = loop.write();
  taker.taken.ending = ending_of(loop);
  return std::move(taker.taken);
}

// What is wrong with going on from before turn `from`; empty: nothing.
inline std::string go_on(const Story& story, const StepProgram& program, const Taken& taken,
                         std::size_t from) {
  const std::string where = "written before " + std::to_string(from) + ": ";
  StoryAdapter outside(story);
  StepLoop loop(program, outside);
  if (!loop.read(taken.turns[from].before)) return where + "it cannot be read";
  for (std::size_t at = from; at < taken.turns.size(); ++at) {
    const std::string turn = where + "turn " + std::to_string(at) + ": ";
    if (loop.write() != taken.turns[at].before) return turn + "another state";
    outside.lines.clear();
    const auto input = recorded_input(taken.turns[at].input);
    if (!input || !loop.replay(input->view(), true)) return turn + "it is refused";
    if (outside.lines != taken.turns[at].lines) return turn + "other entries";
  }
  if (loop.write() != taken.end) return where + "another state at the end";
  if (ending_of(loop) != taken.ending) return where + ending_of(loop);
  return {};
}

}  // namespace holdfast::adapters::testing
