// SPDX-License-Identifier: Apache-2.0
#include "steps/graph_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

base::Bytes bytes_of(const Graph& graph) {
  codec::Buffer out;
  write_graph(out, graph);
  return out.to_bytes();
}

base::Result<Graph> read_json(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  if (!value) return base::invalid("json", "is none");
  return read_graph(codec::View::of(*value), "$.graph");
}

TEST(GraphCodec, a_graph_comes_back_with_all_that_decides) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    work*2: A -> B | Ask
    hear: Answer -> C
    use: C -> Stop
    sum: B[2] -> Stop
    rescue!3 work: StepFailed -> C)",
                               77);
  const base::Bytes bytes = bytes_of(graph);
  const auto again = read_graph(codec::View::of(bytes), "$");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->digest(), graph.digest());
  EXPECT_EQ(bytes_of(*again), bytes);
}

TEST(GraphCodec, slots_and_children_come_back_too) {
  const Graph plain = graph_of("begin: Start -> A | B \n pack: A & B -> Stop");
  const Graph graph(plain.types(), plain.steps(), 0, {"t/One@1", "t/Two@1"});
  ASSERT_NE(graph.digest(), plain.digest());
  const base::Bytes bytes = bytes_of(graph);
  const auto again = read_graph(codec::View::of(bytes), "$");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->digest(), graph.digest());
  codec::Normaliser normaliser;
  const auto canonical = normaliser.part_from_cbor(codec::Schema::item(), bytes);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(base::Bytes(canonical->begin(), canonical->end()), bytes);
}

TEST(GraphCodec, its_rules_come_back_and_tell_it_apart) {
  const Graph earlier = graph_of("begin: Start -> Stop");
  for (const Rules rules : {Rules::kKeepsEarly, Rules::kTellsAttempts, Rules::kTellsRepeats}) {
    const Graph graph = graph_of("begin: Start -> Stop", 0, rules);
    ASSERT_NE(graph.digest(), earlier.digest());
    const base::Bytes bytes = bytes_of(graph);
    const auto again = read_graph(codec::View::of(bytes), "$");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->rules(), rules);
    EXPECT_EQ(again->digest(), graph.digest());
    codec::Normaliser normaliser;
    const auto canonical = normaliser.part_from_cbor(codec::Schema::item(), bytes);
    ASSERT_TRUE(canonical);
    EXPECT_EQ(base::Bytes(canonical->begin(), canonical->end()), bytes);
  }
}

TEST(GraphCodec, rules_that_are_not_known_are_refused) {
  for (const char* number : {"0", "1", "4"}) {
    codec::Normaliser normaliser;
    const std::string json = R"({"rules":)" + std::string(number) + R"(,"steps":[],"types":[]})";
    const auto bytes = normaliser.part_from_json(codec::Schema::any(), json);
    ASSERT_TRUE(bytes);
    const auto graph = read_graph(codec::View::of(*bytes), "$");
    ASSERT_FALSE(graph) << number;
    EXPECT_THAT(graph.error().to_string(), ::testing::HasSubstr("there are no rules"));
  }
}

TEST(GraphCodec, its_bytes_are_canonical) {
  const base::Bytes bytes = bytes_of(graph_of("a!1: StepFailed -> Stop \n b: Start -> Stop"));
  codec::Normaliser normaliser;
  const auto canonical = normaliser.part_from_cbor(codec::Schema::item(), bytes);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(base::Bytes(canonical->begin(), canonical->end()), bytes);
}

TEST(GraphCodec, what_is_no_graph_is_refused_with_its_place) {
  const struct {
    const char* json;
    const char* error;
  } cases[] = {
      {R"({"steps":[]})", "$.graph: the field 'types' is missing"},
      {R"({"types":[],"steps":[],"more":1})", "$.graph: unknown field"},
      {R"({"types":[{"schema":"A","role":"king"}],"steps":[]})", "$.graph.types[0].role"},
      {R"({"types":[{"schema":"A","role":"plain"},{"schema":"A","role":"stop"}],"steps":[]})",
       "$.graph.types[1].schema"},
      {R"({"types":[],"steps":[{"name":"s","accepts":["B"],"returns":[],"returns_list":[]}]})",
       "$.graph.steps[0].accepts"},
      {R"({"types":[],"steps":[{"name":"s","accepts":[],"returns":[],"returns_list":[],
          "join":{"type":"B","take":1}}]})",
       "$.graph.steps[0].join.type"},
      {R"({"types":[],"steps":[{"name":"s","accepts":[],"returns":[],"returns_list":[],
          "workers":4294967296}]})",
       "$.graph.steps[0].workers"},
  };
  for (const auto& each : cases) {
    const auto read = read_json(each.json);
    ASSERT_FALSE(read) << each.json;
    EXPECT_EQ(read.error().to_string().rfind(each.error, 0), 0U) << read.error().to_string();
  }
}

}  // namespace
}  // namespace holdfast::steps::testing
