// SPDX-License-Identifier: Apache-2.0
// For the tests of runs in memory: workflows as a user writes them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/memory_runs.h"

namespace holdfast::adapters::testing {

struct Begin {
  static constexpr std::string_view kSchema = "t/Begin@1";
  std::uint64_t id = 0;
  std::uint64_t n = 0;
};
struct Add {
  static constexpr std::string_view kSchema = "t/Add@1";
  std::uint64_t id = 0;
  std::uint64_t n = 0;
};
struct Part {
  static constexpr std::string_view kSchema = "t/Part@1";
  std::uint64_t n = 0;
};
struct Piece {
  static constexpr std::string_view kSchema = "t/Piece@1";
  std::uint64_t n = 0;
};
struct Sum {
  static constexpr std::string_view kSchema = "t/Sum@1";
  std::uint64_t n = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

struct Told {
  static constexpr std::string_view kSchema = "t/Told@1";
  std::string text;
};

template <class W>
std::unique_ptr<MemoryRuns<W>> open(MemoryOptions options = {}) {
  auto runs = MemoryRuns<W>::open(std::make_shared<W>(), std::move(options));
  EXPECT_TRUE(runs) << runs.error().message;
  return std::move(*runs);
}

// Splits, squares, adds up.
struct Squares : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Squares@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = Sum;

  std::vector<Part> split(const Begin& begin, StepContext&) {
    std::vector<Part> parts;
    for (std::uint64_t n = 1; n <= begin.n; ++n) parts.push_back({n});
    return parts;
  }
  Piece square(const Part& part, StepContext&) { return {part.n * part.n}; }
  Sum add(const std::vector<Piece>& pieces, StepContext&) {
    Sum sum;
    for (const Piece& piece : pieces) sum.n += piece.n;
    return sum;
  }
  static auto steps() {
    return StepsOf<Squares>()
        .step("split", &Squares::split)
        .step("square", &Squares::square)
        .step("add", &Squares::add);
  }
};

// Adds what comes until it has `n` of them; a month without one, and it stops.
struct Counter : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Counter@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;

  void begin(const Begin& begin, StepContext& context) { context.set("wanted", begin.n); }
  std::optional<Sum> count(const Add& add, StepContext& context) {
    std::uint64_t seen = 0;
    context.update<std::uint64_t>("seen", [&](std::uint64_t& value) { seen = ++value; });
    context.update<std::uint64_t>("sum", [&](std::uint64_t& value) { value += add.n; });
    if (seen < context.get<std::uint64_t>("wanted").value_or(UINT64_MAX)) return std::nullopt;
    return Sum{*context.get<std::uint64_t>("sum")};
  }
  static auto steps() {
    return StepsOf<Counter>()
        .step("begin", &Counter::begin)
        .step("count", &Counter::count, {.workers = 1});
  }
};

// Waits for an answer for thirty days, and fails twice before that.
struct Patient : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Patient@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;

  Part prepare(const Begin& begin, StepContext& context) {
    if (context.attempt() < 3) throw StepError("t.flaky", "not yet");
    return {begin.n};
  }
  Sum wait(const Part& part, StepContext& context) {
    try {
      return {context.wait_for<Add>({.timeout = std::chrono::hours(24 * 30)}).n};
    } catch (const WaitTimedOut&) {
      return {part.n};
    }
  }
  static auto steps() {
    return StepsOf<Patient>()
        .step("prepare", &Patient::prepare,
              {.retry = Retry(exponential(std::chrono::hours(1)), after_attempts(5))})
        .step("wait", &Patient::wait);
  }
};

// Adds what it began with and what came then, once it has both.
struct Pair : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Pair@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;

  Part begin(const Begin& begin, StepContext&) { return {begin.n}; }
  Sum add(const Part& part, const Add& add, StepContext&) { return {part.n + add.n}; }
  static auto steps() {
    return StepsOf<Pair>().step("begin", &Pair::begin).step("add", &Pair::add);
  }
};

// Nothing runs before the second event has come.
struct Both : StepWorkflow {
  static constexpr std::string_view kWorkflow = "t/Both@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Add, &Add::id>>;
  using Stop = Sum;

  Sum add(const Begin& begin, const Add& add, StepContext&) { return {begin.n + add.n}; }
  static auto steps() { return StepsOf<Both>().step("add", &Both::add); }
};

}  // namespace holdfast::adapters::testing
