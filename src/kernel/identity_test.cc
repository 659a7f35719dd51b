// SPDX-License-Identifier: Apache-2.0
// Design: "Intent identity".
#include "kernel/identity.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sha256.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::LabTest;
using testing::open;
using testing::opened;
using testing::state;

base::Bytes bytes_of(std::string_view text) {
  return {base::as_bytes(text).begin(), base::as_bytes(text).end()};
}

// A buffer that remembers: the map that was hashed last is still in it.
void expect_canonical(const codec::Buffer& scratch) {
  codec::Normaliser normaliser;
  EXPECT_TRUE(
      normaliser.from_cbor(codec::Schema::item(), scratch.view(), codec::Strictness::kStrict));
}

TEST(IdentityTest, both_hashes_are_over_canonical_maps) {
  codec::Buffer scratch;
  const base::Hash step = step_hash(bytes_of("key"), 7, 1, scratch);
  expect_canonical(scratch);
  EXPECT_EQ(step, base::sha256(scratch.view()));
  const base::Bytes params = bytes_of("params");
  const base::Hash intent = intent_hash({step, {}, 0, "mine", params}, scratch);
  expect_canonical(scratch);
  EXPECT_EQ(intent, base::sha256(scratch.view()));
  delivery_entropy(bytes_of("entropy"), 3, scratch);
  expect_canonical(scratch);
}

TEST(IdentityTest, everything_that_tells_emissions_apart_is_in_it) {
  codec::Buffer scratch;
  const base::Hash one = base::sha256(base::as_bytes("1"));
  const base::Hash two = base::sha256(base::as_bytes("2"));
  std::set<base::Hash> all;
  std::size_t made = 0;
  const auto add = [&](const base::Hash& hash) {
    all.insert(hash);
    ++made;
  };
  for (const char* key : {"a", "b"}) {
    for (const std::uint64_t record : {1u, 2u}) {
      for (const std::uint64_t delivery : {0u, 1u})
        add(step_hash(bytes_of(key), record, delivery, scratch));
    }
  }
  for (const base::Hash& step : {one, two}) {
    for (const base::Hash& site : {one, two}) {
      for (const std::uint64_t index : {0u, 1u}) {
        for (const char* requested : {"", "mine"}) {
          for (const char* params : {"p", "q"})
            add(intent_hash({step, site, index, requested, bytes_of(params)}, scratch));
        }
      }
    }
  }
  for (const char* workflow : {"w", "v"}) {
    for (const base::Hash& workflow_hash : {one, two}) {
      for (const char* effect : {"e", "f"}) {
        for (const base::Hash& effect_hash : {one, two}) {
          for (const defs::Executor& executor :
               {defs::Executor{"worker", "q"}, {"worker", "r"}, {"echo", "q"}})
            add(site_hash(workflow, workflow_hash, effect, effect_hash, executor));
        }
      }
    }
  }
  EXPECT_EQ(all.size(), made);
  EXPECT_EQ(made, 8u + 32u + 48u);
}

class IdentityOfIntentsTest : public LabTest {};

TEST_F(IdentityOfIntentsTest, equal_effects_of_cells_steps_and_places_never_share_one) {
  begin(testing::kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    open(output, "lab/work@1", R"({"a":1})");
    open(output, "lab/work@1", R"({"a":1})");
    open(output, "lab/work@1", R"({"a":1})", "mine");
  };
  std::set<base::Hash> all;
  for (const char* id : {"a", "b", "a", "b"}) {
    for (const base::Hash& intent : opened(send(id, 1))) all.insert(intent);
  }
  EXPECT_EQ(all.size(), 12u);
  bench().expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
