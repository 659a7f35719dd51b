// SPDX-License-Identifier: Apache-2.0
#include "steps/graph.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

std::vector<std::string> joins_of(const Graph& graph, const char* opener) {
  std::vector<std::string> names;
  for (const StepIndex step : graph.joins_of(*graph.step_named(opener)))
    names.push_back(graph.step(step).name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Graph, steps_are_in_the_order_of_their_names) {
  const Graph graph = graph_of("b: A -> B \n a: Start -> A \n c: B -> Stop");
  EXPECT_EQ(graph.step(0).name, "a");
  EXPECT_EQ(graph.step(2).name, "c");
  EXPECT_EQ(graph.step_named("b"), 1U);
  EXPECT_FALSE(graph.step_named("d"));
  EXPECT_TRUE(graph.type_named("B"));
  EXPECT_FALSE(graph.type_named("C"));
}

TEST(Graph, a_handler_that_names_a_step_comes_before_one_of_all) {
  const Graph graph = graph_of(R"(
    a: Start -> B
    b: B -> Stop
    mine!1 b: StepFailed -> Stop
    rest!1: StepFailed -> Stop)");
  EXPECT_EQ(graph.handler_of(*graph.step_named("a")), graph.step_named("rest"));
  EXPECT_EQ(graph.handler_of(*graph.step_named("b")), graph.step_named("mine"));
  EXPECT_FALSE(graph.handler_of(*graph.step_named("mine")));
  EXPECT_FALSE(graph.handler_of(*graph.step_named("rest")));
}

TEST(Graph, a_fan_out_is_joined_where_it_leads_to) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    work: A -> B | C
    sum: B[] -> Stop
    far: D[] -> Stop)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"sum"}));
  EXPECT_EQ(joins_of(graph, "work"), Names());
}

TEST(Graph, a_fan_out_inside_is_joined_inside) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    halve: A -> B[]
    work: B -> C
    inner: C[] -> D
    outer: D[] -> Stop)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"outer"}));
  EXPECT_EQ(joins_of(graph, "halve"), Names({"inner"}));
}

TEST(Graph, a_join_may_fan_out_again) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    again: A[] -> B[]
    last: B[] -> Stop)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"again"}));
  EXPECT_EQ(joins_of(graph, "again"), Names({"last"}));
}

TEST(Graph, a_handler_goes_on_where_the_step_has_failed) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    work: A -> B
    sum: C[] -> Stop
    rescue!1 work: StepFailed -> C)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"sum"}));
}

TEST(Graph, a_fan_out_in_a_circle_is_found_to_its_end) {
  const Graph graph = graph_of(R"(
    split: Start -> A[]
    loop: A -> A[] | B
    sum: B[] -> C
    more: C -> B)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"sum"}));
  EXPECT_EQ(joins_of(graph, "loop"), Names({"sum"}));
}

TEST(Graph, a_step_with_slots_passes_on_when_all_its_types_are_there) {
  const Graph graph = graph_of(R"(
    split: Start -> P[]
    left: P -> A
    right: P -> B
    pack: A & B -> C
    sum: C[] -> Stop)");
  EXPECT_EQ(joins_of(graph, "split"), Names({"sum"}));
  const Graph half = graph_of(R"(
    split: Start -> P[]
    left: P -> A
    pack: A & B -> C
    sum: C[] -> Stop)");
  EXPECT_EQ(joins_of(half, "split"), Names());
}

TEST(Graph, its_digest_without_slots_is_what_it_always_was) {
  // Definitions of today must fit code of tomorrow.
  EXPECT_EQ(base::to_hex(graph_of("begin: Start -> A \n end: A -> Stop").digest().bytes),
            "3a217aa7642b7ea1cd193b4a2f6c225788a29f0bdf30ffbcdf8c837870b7a3f5");
}

TEST(Graph, its_digest_tells_apart_what_decides) {
  const char* const text =
      "work*2: Start -> A \n sum: A[2] -> Stop \n rescue!1: StepFailed -> Stop";
  const base::Hash digest = graph_of(text).digest();
  EXPECT_EQ(graph_of(text).digest(), digest);
  EXPECT_NE(graph_of(text, 7).digest(), digest);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"work*2", "work*3"},
                                                        {"A[2]", "A[3]"},
                                                        {"A[2]", "A"},
                                                        {"A[2]", "A & A"},
                                                        {"rescue!1", "rescue!2"},
                                                        {"rescue!1", "rescue!1 work"},
                                                        {"sum", "total"},
                                                        {"Start ->", "Start2 ->"},
                                                        {"-> A", "-> A[]"}}) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    EXPECT_NE(graph_of(other).digest(), digest) << from;
  }
}

}  // namespace
}  // namespace holdfast::steps::testing
