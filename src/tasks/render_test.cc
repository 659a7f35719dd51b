// SPDX-License-Identifier: Apache-2.0
#include "tasks/render.h"

#include <gtest/gtest.h>

#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::graph;
using testing::json_of;
using testing::part_of_value;
using testing::plan_of;
using testing::Results;
using testing::task_named;

constexpr const char* kResult =
    R"({"items":[{"output":"hi"},{"output":2}],"n":7,"r":1.5,"yes":true,"none":null,"map":{"a b":1,"0":"zero"}})";

// Renders {"x": TEXT} behind a node `a` with kResult, and shows x or the error.
std::string rendered(const std::string& text) {
  const Plan plan =
      plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"x":)" + text + "}}"));
  const auto value = render(task_named(plan, "b"), Results(plan).add("a", kResult));
  if (!value) return value.error().to_string();
  const std::string json = json_of(*value);
  return json.substr(5, json.size() - 6);
}

TEST(Render, references_become_values_alone_and_text_among_text) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("${a.n}")", "7"},
      {R"("${a.yes}")", "true"},
      {R"("${a.none}")", "null"},
      {R"("${a.items[0]}")", R"({"output":"hi"})"},
      {R"("${a.items[0].output}")", R"("hi")"},
      {R"("${a.items.1.output}")", "2"},
      {R"("${a.map.0}")", R"("zero")"},
      {R"({"node":"a","path":"items[1].output"})", "2"},
      {R"({"node":"a","path":"items"})", R"([{"output":"hi"},{"output":2}])"},
      {R"("n is ${a.n}, r is ${a.r}")", R"("n is 7, r is 1.5")"},
      {R"("${a.yes}${a.none}")", R"("truenull")"},
      {R"("all: ${a.items}")", R"("all: [{\"output\":\"hi\"},{\"output\":2}]")"},
      {R"("${a.items[0].output} there")", R"("hi there")"},
      {R"("${a.task_id}")", R"("tsk-0")"},
      {R"("run ${a.task_id}!")", R"("run tsk-0!")"},
      {R"("$${a.n}")", R"("${a.n}")"},
      {R"("$$${a.n} and ${a.n}")", R"("$${a.n} and 7")"},
      {R"("cost: $5 {a.n} }}")", R"("cost: $5 {a.n} }}")"},
      {R"("{{ row.${a.n} }} ${a.n}")", R"("{{ row.${a.n} }} 7")"},
      {R"("{{ open ${a.n}")", R"("{{ open 7")"},
      {R"({"node":"a","path":"n","more":1})", R"({"more":1,"node":"a","path":"n"})"},
      {R"({"node":"a","path":7})", R"({"node":"a","path":7})"},
      {R"([["${a.n}",{"k":"${a.n}"}]])", R"([[7,{"k":7}]])"},
      {R"({"${a.n}":1})", R"({"${a.n}":1})"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(rendered(text), value) << text;
}

TEST(Render, a_missing_value_names_the_place_and_the_reference) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("${a.nothing}")", "x: ${a.nothing}: there is no 'nothing'"},
      {R"(["${a.items[2]}"])", "x[0]: ${a.items[2]}: the list has 2 elements, and none at 2"},
      {R"("see ${a.items.output}")",
       "x: ${a.items.output}: a list has no 'output': its steps are whole numbers"},
      {R"({"node":"a","path":"n.x"})", "x: ${a.n.x}: a number has no 'x'"},
      {R"("${a.map[0]}")", "x: ${a.map[0]}: a mapping has no [0]"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(rendered(text), error) << text;
}

TEST(Render, a_result_that_is_not_there_yet_can_be_waited_for) {
  const Plan plan =
      plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"x":"${a.n}"}})"));
  const auto value = render(task_named(plan, "b"), Results(plan));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), base::ErrorCode::kUnavailable);
}

TEST(Render, a_foreach_node_gives_a_list_in_order_and_an_index_picks_one) {
  const Plan plan = plan_of(graph(R"({"name":"s","foreach":["p","q"]},
      {"name":"e","dependsOn":["s"],"spec":{"all":"${s.v}","whole":"${s}","one":"${s[1].v}",
       "dotted":"${s.0.v}","ids":"${s.task_id}","text":"got ${s.v}"}})"));
  Results results(plan);
  results.add("s[0]", R"({"v":1})").add("s[1]", R"({"v":"two"})");
  const auto value = render(task_named(plan, "e"), results);
  ASSERT_TRUE(value) << value.error().to_string();
  EXPECT_EQ(*value, part_of_value(R"({"all":[1,"two"],"whole":[{"v":1},{"v":"two"}],"one":"two",
                                      "dotted":1,"ids":["tsk-0","tsk-1"],"text":"got [1,\"two\"]"})"));
  results.add("s[1]", "{}");
  EXPECT_EQ(render(task_named(plan, "e"), results).error().to_string(),
            "all: ${s.v}: in s[1]: there is no 'v'");
}

TEST(Render, each_task_of_a_foreach_sees_its_element_and_index) {
  const Plan plan = plan_of(graph(R"({"name":"a"},
      {"name":"s","dependsOn":["a"],"foreach":[{"k":"x"},{"k":"${a.n}"},{"k":"$${lit}"}],
       "spec":{"item":"${foreach.item}","k":{"node":"foreach","path":"item.k"},"text":"#${foreach.index}: ${foreach.item.k}"}})"));
  Results results(plan);
  results.add("a", kResult);
  const auto shown = [&](const char* name) { return *render(task_named(plan, name), results); };
  EXPECT_EQ(shown("s[0]"), part_of_value(R"({"item":{"k":"x"},"k":"x","text":"#0: x"})"));
  EXPECT_EQ(shown("s[1]"), part_of_value(R"({"item":{"k":7},"k":7,"text":"#1: 7"})"));
  EXPECT_EQ(shown("s[2]"),
            part_of_value(R"({"item":{"k":"${lit}"},"k":"${lit}","text":"#2: ${lit}"})"));
}

TEST(Render, a_value_that_looks_like_a_reference_stays_as_it_is) {
  const Plan plan = plan_of(
      graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"x":"${a.v}","y":"_${a.v}"}})"));
  const auto value =
      render(task_named(plan, "b"), Results(plan).add("a", R"({"v":"${a.secret}"})"));
  EXPECT_EQ(json_of(*value), R"({"x":"${a.secret}","y":"_${a.secret}"})");
}

TEST(Render, what_comes_of_it_is_bounded) {
  const Plan plan = plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],
      "spec":{"x":["${a.v}","${a.v}"],"y":"${a.v}${a.v}"}})"));
  Results results(plan);
  results.add("a", R"({"v":")" + std::string(600, 'v') + "\"}");
  const TaskDefinition task = task_named(plan, "b");
  EXPECT_TRUE(render(task, results, 3000));
  const auto refused = render(task, results, 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().to_string(),
            "x[1]: with its references resolved the spec has more than 1000 bytes");
  const std::string deep = std::string(63, '[') + "1" + std::string(63, ']');
  results.add("a", R"({"v":)" + deep + "}");
  EXPECT_EQ(render(task, results).error().to_string(),
            "x[0]: ${a.v}: the value is nested too deep to stand here");
}

TEST(Condition, the_field_as_text_decides_and_a_missing_one_skips) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("field":"items[0].output","equals":"hi")", "runs"},
      {R"("field":"items.0.output","equals":"hi")", "runs"},
      {R"("field":"items.0.output","equals":"Hi")", "skipped"},
      {R"("field":"n","equals":7)", "runs"},
      {R"("field":"n","equals":"7")", "runs"},
      {R"("field":"yes","equals":"true")", "runs"},
      {R"("field":"yes","equals":true)", "runs"},
      {R"("field":"none","equals":null)", "runs"},
      {R"("field":"nothing","equals":null)", "skipped"},
      {R"("field":"items[9].x","equals":"")", "skipped"},
      {R"("field":"n.x","equals":"7")", "skipped"},
      {R"("field":"items[0]","equals":"{\"output\":\"hi\"}")", "runs"},
      {R"("field":"task_id","equals":"tsk-0")", "runs"},
  };
  for (const auto& [condition, verdict] : cases) {
    const Plan plan = plan_of(
        graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"condition":{"node":"a",)" +
              std::string(condition) + "}}}"));
    const auto holds = condition_holds(task_named(plan, "b"), Results(plan).add("a", kResult));
    ASSERT_TRUE(holds) << condition;
    EXPECT_STREQ(*holds ? "runs" : "skipped", verdict) << condition;
  }
}

TEST(Condition, may_look_at_the_element_of_a_foreach) {
  const Plan plan = plan_of(graph(R"({"name":"s","foreach":[{"on":true},{"on":false},{}],
      "spec":{"condition":{"node":"foreach","field":"item.on","equals":true}}})"));
  const Results none(plan);
  EXPECT_TRUE(*condition_holds(task_named(plan, "s[0]"), none));
  EXPECT_FALSE(*condition_holds(task_named(plan, "s[1]"), none));
  EXPECT_FALSE(*condition_holds(task_named(plan, "s[2]"), none));
}

TEST(Condition, needs_the_outcome_of_its_node) {
  const Plan plan = plan_of(graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],
      "spec":{"condition":{"node":"a","field":"x","equals":1}}})"));
  EXPECT_EQ(condition_holds(task_named(plan, "b"), Results(plan)).error().code(),
            base::ErrorCode::kUnavailable);
  EXPECT_TRUE(*condition_holds(task_named(plan, "a"), Results(plan)));
  EXPECT_EQ(json_of(skipped_result()), R"({"metadata":{"skipped":true}})");
}

}  // namespace
}  // namespace holdfast::tasks
