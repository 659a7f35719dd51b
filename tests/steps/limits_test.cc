// SPDX-License-Identifier: Apache-2.0
// What a run in memory may hold is what it may hold in a world, so that a test in memory tells the
// truth: the same sizes end a run in both, with the same failure and the same stream.
#include <gtest/gtest.h>

#include <functional>

#include "holdfast/steps.h"
#include "holdfast/testing.h"

namespace holdfast {
namespace {

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::uint64_t n = 0;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::string text;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Sized : StepWorkflow {
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  static std::string text(const Begin& begin) { return std::string(begin.n, 'x'); }
};

// So many parts.
struct FanOut : Sized {
  static constexpr std::string_view kWorkflow = "test/FanOut@1";
  static std::vector<Part> begin(const Begin& begin, StepContext&) {
    return std::vector<Part>(begin.n);
  }
  static End first(const Part&, StepContext&) { return {"first"}; }
  static auto steps() {
    return StepsOf<FanOut>().step("begin", begin).step("first", first, {.workers = 1});
  }
};
// So many bytes, in an event, in the store, in both, in the result.
struct Event : Sized {
  static constexpr std::string_view kWorkflow = "test/Event@1";
  static Part begin(const Begin& begin, StepContext&) { return {text(begin)}; }
  static End end(const Part& part, StepContext&) { return {std::to_string(part.text.size())}; }
  static auto steps() { return StepsOf<Event>().step("begin", begin).step("end", end); }
};
struct Store : Sized {
  static constexpr std::string_view kWorkflow = "test/Store@1";
  static Part begin(const Begin& begin, StepContext& context) {
    context.set("text", text(begin));
    return {"x"};
  }
  static End end(const Part&, StepContext& context) {
    return {std::to_string(context.get<std::string>("text")->size())};
  }
  static auto steps() { return StepsOf<Store>().step("begin", begin).step("end", end); }
};
// One step more while others run, each with all of the store to see.
struct Several : Sized {
  static constexpr std::string_view kWorkflow = "test/Several@1";
  static std::vector<Part> begin(const Begin& begin, StepContext& context) {
    context.set("text", text(begin));
    return std::vector<Part>(3);
  }
  static std::optional<End> end(const Part& part, StepContext& context) {
    if (auto all = context.collect(part, 3)) return End{std::to_string(all->size())};
    return std::nullopt;
  }
  static auto steps() { return StepsOf<Several>().step("begin", begin).step("end", end); }
};
struct Outcome : Sized {
  static constexpr std::string_view kWorkflow = "test/Result@1";
  static End end(const Begin& begin, StepContext&) { return {text(begin)}; }
  static auto steps() { return StepsOf<Outcome>().step("end", end); }
};

std::string shown(const std::vector<StepEntry>& entries) {
  std::string text;
  for (const StepEntry& entry : entries) {
    const auto parts = entry.parts();
    for (const StepEntry& part : *parts) {
      if (part.kind != "steps") text += " " + part.kind + part.code;
    }
  }
  return text;
}

template <class W>
std::string in_memory(std::uint64_t n) {
  auto runs = MemoryRuns<W>::open(std::make_shared<W>());
  EXPECT_TRUE(runs && (*runs)->send(Begin{"k", n}));
  const auto run = (*runs)->find("k");
  if (!run || !run->outcome) return "open";
  const auto& error = run->outcome->error;
  return (error ? error->code + ": " + error->message : "good") + shown((*runs)->stream("k"));
}
template <class W>
std::string in_a_world(std::uint64_t n) {
  auto world =
      testing::World::open({Module::of<W>("test/code@1")}, step_handlers(std::make_shared<W>()));
  EXPECT_TRUE(world && (*world)->send(Begin{"k", n}));
  const auto run = (*world)->template query<W>("k");
  if (!run || !run->has_ended()) return "open";
  return (run->error ? run->error->code + ": " + run->error->message : "good") +
         shown((*world)->template stream<W>("k"));
}

// The largest that is good, if all up to there are.
std::uint64_t largest(const std::function<std::string(std::uint64_t)>& outcome,
                      std::uint64_t most) {
  std::uint64_t good = 1;
  std::uint64_t bad = most;
  EXPECT_TRUE(outcome(good).starts_with("good")) << outcome(good);
  EXPECT_FALSE(outcome(bad).starts_with("good"));
  while (good + 1 < bad) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (outcome(middle).starts_with("good") ? good : bad) = middle;
  }
  return good;
}

template <class W>
class Limits : public ::testing::Test {};
using Workflows = ::testing::Types<FanOut, Event, Store, Several, Outcome>;
TYPED_TEST_SUITE(Limits, Workflows);

TYPED_TEST(Limits, of_a_run_in_memory_are_those_of_a_world) {
  // Fan-outs by their number: a body may return 16384 at most.
  const std::uint64_t most = std::is_same_v<TypeParam, FanOut> ? 16'000 : 1'500'000;
  const std::uint64_t good = largest(in_memory<TypeParam>, most);
  EXPECT_EQ(good, largest(in_a_world<TypeParam>, most));
  for (const std::uint64_t n : {good, good + 1, good + good / 4, most})
    EXPECT_EQ(in_memory<TypeParam>(n), in_a_world<TypeParam>(n)) << n;
}

}  // namespace
}  // namespace holdfast
