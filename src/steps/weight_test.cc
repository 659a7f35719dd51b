// SPDX-License-Identifier: Apache-2.0
#include "steps/weight.h"

#include <gtest/gtest.h>

#include "steps/run_params.h"
#include "steps/state_codec.h"
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kWeightGraph[] = R"(
  split: Start -> A[]
  work*2: A -> B
  sum: B[] -> Stop
  pack: A & B -> B
  rescue!2: StepFailed -> B
)";

// Numbers as large as they can be.
constexpr char kLarge[] =
    R"(
  last i18446744073709551615 r18446744073709551615 s18446744073709551615 c18446744073709551615
  deadline 18446744073709551615
  pack holds A1 s18446744073709551615 rescue=4294967295
  work running 0 r18446744073709551615 A1 i18446744073709551615 s18446744073709551615 f4294967295 )"
    R"(t18446744073709551615 rescue=4294967295 saw18446744073709551615 judging:oops
  work queued A3 i18446744073709551615 s18446744073709551615 @18446744073709551615
  work buffer default c18446744073709551615 A18446744073709551615 A2
  work waits w B for A1 i18446744073709551615 until 18446744073709551615 where who="x" answered B7
  stream 18446744073709551615 open 18446744073709551615 in 18446744073709551615
  stream 18446744073709551615 joins sum B1 B18446744073709551615
  store a c18446744073709551615 5
)";

TEST(Weight, is_no_less_than_what_is_written) {
  Table table(kWeightGraph);
  for (const char* text : {"last", kLarge}) {
    const State state = table.parse().state(text);
    codec::Buffer out;
    write_state(out, state);
    EXPECT_LE(out.size(), weight(state)) << text;
    EXPECT_LE(weight(state), 3 * out.size() + 300) << text;
  }
}

TEST(Weight, of_a_run_is_no_less_than_its_params) {
  Table table(kWeightGraph);
  const State state = table.parse().state(kLarge);
  const StepIndex work = table.step("work");
  const Running& running = state.steps[work].running[0];
  const base::Bytes key(1000, 0x61);
  const RunParams params{table.graph(), state, key, UINT64_MAX};
  codec::Buffer out;
  params.write(out, work, running);
  EXPECT_LE(out.size(), params.weight(work, running));
}

}  // namespace
}  // namespace holdfast::steps::testing
