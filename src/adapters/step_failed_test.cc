// SPDX-License-Identifier: Apache-2.0
// What an error handler is told of the event that a step could not deal with.
#include <gtest/gtest.h>

#include "adapters/testing_workflows.h"

namespace holdfast::adapters::testing {
namespace {

std::string told(const StepFailed& failed) {
  std::string text = failed.step + " " + failed.event + (failed.is_list() ? " list" : " one");
  if (const auto part = failed.as<Part>()) text += " part " + std::to_string(part->n);
  if (const auto pieces = failed.list_of<Piece>()) text += " of " + std::to_string(pieces->size());
  if (const auto set = failed.set_of<Part, Add>())
    text +=
        " set " + std::to_string(std::get<0>(*set).n) + " " + std::to_string(std::get<1>(*set).n);
  return text;
}

// One fails with a part, or with the list of all pieces.
struct Failing : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Failing@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Told;

  std::vector<Part> split(const Begin& begin, StepContext&) { return {{begin.n}, {begin.n * 10}}; }
  Piece square(const Part& part, StepContext&) {
    if (part.n == 1) throw StepError("t.no", "no");
    return {part.n};
  }
  Told join(const std::vector<Piece>&, StepContext&) { throw StepError("t.no", "no"); }
  static Told tell(const StepFailed& failed, StepContext&) { return {told(failed)}; }
  static auto steps() {
    return StepsOf<Failing>()
        .step("split", &Failing::split)
        .step("square", &Failing::square)
        .step("join", &Failing::join)
        .on_error("tell", &Failing::tell);
  }
};

std::string text_of(MemoryRuns<Failing>& runs, std::uint64_t id) {
  const auto run = runs.find(id);
  if (!run || !run->outcome) return "open";
  return run->outcome->error ? run->outcome->error->code : run->outcome->as<Told>()->text;
}

TEST(StepFailed, is_read_as_what_the_step_takes) {
  auto opened = MemoryRuns<Failing>::open(std::make_shared<Failing>());
  ASSERT_TRUE(opened) << opened.error().message;
  MemoryRuns<Failing>& runs = **opened;
  ASSERT_TRUE(runs.send(Begin{1, 1}));
  EXPECT_EQ(text_of(runs, 1), "square t/Part@1 one part 1");
  ASSERT_TRUE(runs.send(Begin{2, 2}));
  EXPECT_EQ(text_of(runs, 2), "join t/Piece@1 list of 2");
}

struct Pairing : Failing {
  static constexpr std::string_view kWorkflow = "t/Pairing@1";
  static Part begin(const Begin& begin, StepContext&) { return {begin.n}; }
  static Told pair(const Part&, const Add&, StepContext&) { throw StepError("t.no", "no"); }
  static auto steps() {
    return StepsOf<Pairing>()
        .step("begin", &Pairing::begin)
        .step("pair", &Pairing::pair)
        .on_error("tell", &Pairing::tell);
  }
};

TEST(StepFailed, of_a_step_that_takes_several_has_one_of_each) {
  auto opened = MemoryRuns<Pairing>::open(std::make_shared<Pairing>());
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE((*opened)->send(Begin{1, 5}));
  ASSERT_TRUE((*opened)->send(Add{1, 6}));
  ASSERT_TRUE((*opened)->find(1)->outcome);
  EXPECT_EQ((*opened)->find(1)->outcome->as<Told>()->text, "pair t/Part@1 list set 5 6");
}

}  // namespace
}  // namespace holdfast::adapters::testing
