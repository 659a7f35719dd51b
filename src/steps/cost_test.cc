// SPDX-License-Identifier: Apache-2.0
// An event costs a run the same, however many came before it: in bytes and in allocations, which
// are the same on every machine. bench/instructions counts instructions.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "steps/testing_long_run.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

// Of the whole program, all of them, as a sanitizer compares who gave memory with who takes it
// back. Not inlined: gcc would see a free of what came from `new`.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace holdfast::steps::testing {
namespace {

struct Cost {
  std::uint64_t allocations = 0;
  std::size_t state_bytes = 0;
  std::size_t output_bytes = 0;
};

Cost cost_of_one_more(LongRun& run) {
  const std::uint64_t before = allocations;
  run.turn();
  return {allocations - before, run.state_bytes(), run.output_bytes()};
}

TEST(Cost, one_more_event_costs_the_same_behind_ten_thousand_others) {
  LongRun run;
  for (int i = 0; i < 100; ++i) run.turn();
  const Cost early = cost_of_one_more(run);
  for (int i = 0; i < 10'000; ++i) run.turn();
  const Cost late = cost_of_one_more(run);
  EXPECT_GT(early.allocations, 0U);
  EXPECT_LE(late.allocations, early.allocations);
  // Numbers that have more digits: of items, runs and changes.
  EXPECT_LE(late.state_bytes, early.state_bytes + 16);
  EXPECT_LE(late.output_bytes, early.output_bytes + 32);
}

}  // namespace
}  // namespace holdfast::steps::testing
