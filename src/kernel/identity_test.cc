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

TEST(IdentityTest, hashes_are_over_canonical_maps) {
  codec::Buffer scratch;
  const base::Bytes params = bytes_of("params");
  for (const char* requested : {"", "mine"}) {
    const base::Hash intent = intent_hash({{}, params, 7, 1, 0, params, requested}, scratch);
    expect_canonical(scratch);
    EXPECT_EQ(intent, base::sha256(scratch.view()));
  }
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
  const base::Bytes key = bytes_of("a");
  const base::Bytes params = bytes_of("p");
  const Emission plain{one, key, 1, 0, 0, params, ""};
  for (int bits = 0; bits < 128; ++bits) {
    Emission emission = plain;
    const base::Bytes other = bytes_of("b");
    if (bits & 1) emission.site = two;
    if (bits & 2) emission.key = other;
    if (bits & 4) emission.record = 2;
    if (bits & 8) emission.delivery = 1;
    if (bits & 16) emission.index = 1;
    if (bits & 32) emission.params = other;
    if (bits & 64) emission.requested_key = "mine";
    add(intent_hash(emission, scratch));
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
  EXPECT_EQ(made, 128u + 48u);
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
