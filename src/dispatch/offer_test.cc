// SPDX-License-Identifier: Apache-2.0
#include "dispatch/offer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/normaliser.h"

namespace holdfast::dispatch {
namespace {

base::Result<Offer> offer_of(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  EXPECT_TRUE(value) << json;
  return read_offer(codec::View::of(*value));
}

TEST(Offer, is_read_whole_and_comes_back_from_what_the_world_keeps) {
  const auto offer = offer_of(
      R"({"queues":["night","day"],"types":["python","echo"],"slots":8,"labels":{"zone":"a"},
          "resources":{"cpu_milli":2000,"memory_bytes":1024,
                       "gpus":[{"index":1,"type":"A100","memory_bytes":7},{"index":0}]},
          "recipes":["llama"],"something":"else"})");
  ASSERT_TRUE(offer) << offer.error().to_string();
  EXPECT_EQ(offer->queues, (std::vector<std::string>{"day", "night"}));
  EXPECT_EQ(offer->devices, (std::vector<Device>{{0, "", 0}, {1, "A100", 7}}));
  codec::Buffer out;
  write_offer(out, *offer);
  codec::Normaliser normaliser;
  const auto kept =
      normaliser.from_cbor(codec::Schema::any(), out.view(), codec::Strictness::kLenient);
  ASSERT_TRUE(kept);
  const auto again = read_offer(codec::View::of(*kept));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *offer);
}

TEST(Offer, needs_only_types) {
  const auto offer = offer_of(R"({"types":["*"]})");
  ASSERT_TRUE(offer);
  EXPECT_TRUE(offer->has_any_type);
  EXPECT_EQ(offer->slots, 1u);
  EXPECT_EQ(offer->queues, std::vector<std::string>{"default"});
}

TEST(Offer, what_is_wrong_is_named_with_its_place) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "$: expected a map"},
      {R"({})", "$.types: it is missing"},
      {R"({"types":[]})", "$.types: a worker runs one task type at least"},
      {R"({"types":["a","*"]})", "$.types: \"*\" stands alone"},
      {R"({"types":["a","a"]})", "$.types: names 'a' twice"},
      {R"({"types":[7]})", "$.types[0]: expected a text"},
      {R"({"types":["a b"]})", "$.types[0]: 'a b' is not a name: use letters, digits and '_-./:@'"},
      {R"({"types":["a"],"queues":[]})", "$.queues: a worker serves one queue at least"},
      {R"({"types":["a"],"slots":0})", "$.slots: expected a whole number from 1 to 65536"},
      {R"({"types":["a"],"labels":{"k":1}})", "$.labels.k: expected a text of at most 256 bytes"},
      {R"({"types":["a"],"resources":{"ram":1}})", "$.resources: has no member 'ram'"},
      {R"({"types":["a"],"resources":{"gpus":[{}]}})", "$.resources.gpus[0].index: it is missing"},
      {R"({"types":["a"],"resources":{"gpus":[{"index":1},{"index":1}]}})",
       "$.resources.gpus: index 1 stands twice"},
      {R"({"types":["a"],"resources":{"cpu_milli":-1}})",
       "$.resources.cpu_milli: expected a whole number from 0 to 1000000000"},
  };
  for (const auto& [json, expected] : cases) {
    const auto offer = offer_of(json);
    ASSERT_FALSE(offer) << json;
    EXPECT_THAT(offer.error().to_string(), ::testing::HasSubstr(expected)) << json;
  }
}

}  // namespace
}  // namespace holdfast::dispatch
