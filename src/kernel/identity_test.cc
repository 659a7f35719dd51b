// SPDX-License-Identifier: Apache-2.0
// Design: "Intent identity".
#include "kernel/identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::LabTest;
using testing::open;
using testing::opened;
using testing::state;

TEST(IdentityTest, an_intent_is_the_hash_of_a_canonical_map_that_begins_with_the_site) {
  const base::Hash site_name = base::sha256(base::as_bytes("1"));
  const Site site(site_name);
  const base::Bytes params = testing::value(R"({"a":1})");
  const base::Bytes key = testing::value(R"("k")");
  codec::Buffer scratch;
  for (const char* requested : {"", "mine"}) {
    const base::Hash intent = intent_hash({&site, key, 7, 1, 0, params, requested}, scratch);
    const auto begin = Site::bytes_of(site_name);
    base::Bytes map(begin.begin(), begin.end());
    map.insert(map.end(), scratch.view().begin(), scratch.view().end());
    codec::Normaliser normaliser;
    ASSERT_TRUE(normaliser.from_cbor(codec::Schema::item(), map, codec::Strictness::kStrict));
    EXPECT_EQ(intent, base::sha256(map));
    std::map<std::uint64_t, codec::View> fields;
    for (const auto [name, field] : codec::View::of(map).entries())
      fields.emplace(*name.nat(), field);
    const base::ByteView padded = *fields.at(0).bytes();
    EXPECT_TRUE(base::equal(padded.first(32), site_name.bytes));
    EXPECT_EQ(std::count(padded.begin() + 32, padded.end(), 0), 25);
    EXPECT_EQ(testing::json_of(fields.at(1).encoded()),
              *requested == 0 ? "[7,1,0]" : R"([7,1,0,"mine"])");
    EXPECT_EQ(testing::json_of(fields.at(2).encoded()), R"({"a":1})");
    EXPECT_EQ(testing::json_of(fields.at(3).encoded()), R"("k")");
  }
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
  const Site site(one);
  const Site other_site(two);
  const base::Bytes value = testing::value(R"("a")");
  const base::Bytes other = testing::value(R"("b")");
  for (unsigned bits = 0; bits < 128; ++bits) {
    Emission emission{&site, value, 1, 0, 0, value, ""};
    if (bits & 1) emission.site = &other_site;
    if (bits & 2) emission.key = other;
    if (bits & 4) emission.record = 2;
    if (bits & 8) emission.delivery = 1;
    if (bits & 16) emission.index = 1;
    if (bits & 32) emission.params = other;
    if (bits & 64) emission.requested_key = "mine";
    add(intent_hash(emission, scratch));
  }
  for (const base::Hash& world : {one, two}) {
    for (const char* workflow : {"w", "v"}) {
      for (const base::Hash& workflow_hash : {one, two}) {
        for (const char* effect : {"e", "f"}) {
          for (const base::Hash& effect_hash : {one, two}) {
            for (const defs::Executor& executor :
                 {defs::Executor{"worker", "q"}, {"worker", "r"}, {"echo", "q"}})
              add(site_hash(world.bytes, workflow, workflow_hash, effect, effect_hash, executor));
          }
        }
      }
    }
  }
  EXPECT_EQ(all.size(), made);
  EXPECT_EQ(made, 128u + 96u);
}

TEST(Identity, two_at_once_are_the_same_two) {
  codec::Buffer scratch;
  const Site site(base::sha256(base::as_bytes("here")));
  const Site other(base::sha256(base::as_bytes("there")));
  const base::Bytes key = testing::value(R"("a")");
  for (std::size_t size = 0; size < 300; ++size) {  // of one block and of several
    const base::Bytes params = testing::value('"' + std::string(size, 'p') + '"');
    const Emission a{&site, key, 7, 1, 0, params, ""};
    const Emission b{&other, {}, 7, 1, 1, key, "mine"};
    base::Hash of_a;
    base::Hash of_b;
    intent_hashes(a, of_a, b, of_b, scratch);
    ASSERT_EQ(of_a, intent_hash(a, scratch)) << size;
    ASSERT_EQ(of_b, intent_hash(b, scratch)) << size;
    intent_hashes(a, of_a, a, of_b, scratch);
    ASSERT_EQ(of_a, intent_hash(a, scratch)) << size;
    ASSERT_EQ(of_b, of_a) << size;
  }
}

class IdentityOfIntentsTest : public LabTest {};

TEST_F(IdentityOfIntentsTest, two_worlds_that_do_the_same_never_share_one) {
  keyed_ = testing::work;
  std::set<base::Hash> intents;
  const base::Bytes definitions = testing::value(testing::lab(testing::kToKeyed));
  const base::Bytes event = testing::value(go("a", 1));
  for (const std::uint8_t origin : {std::uint8_t{1}, std::uint8_t{2}}) {
    testing::MemoryBlobs blobs;
    World world(machines_, blobs);
    Tick tick;
    tick.entropy.fill(origin);
    tick.input = ApplyManifest{definitions};
    world.reduce(tick);
    tick.entropy.fill(9);
    tick.input = EventArrived{"lab/Go@1", event, {}};
    World again = World::restore(machines_, blobs, *world.snapshot()).take();
    const base::Hash intent = opened(world.reduce(tick)).at(0);
    EXPECT_EQ(opened(again.reduce(tick)).at(0), intent) << "a restored world is the same world";
    intents.insert(intent);
  }
  EXPECT_EQ(intents.size(), 2u);
}

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
