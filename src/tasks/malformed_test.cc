// SPDX-License-Identifier: Apache-2.0
// Documents that are wrong in one way each: the error names the place and the word.
#include <gtest/gtest.h>

#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::document;
using testing::errors_of;
using testing::graph;
using testing::Lines;
using testing::stages;

struct Malformed {
  std::string json;
  std::string error;
};

std::string hint(std::string_view json) { return R"({"schedule_hint":)" + std::string(json) + "}"; }
std::string task(std::string_view more) {
  return document(R"({"taskType":"echo",)" + std::string(more) + "}");
}
std::string ab(std::string_view annotations) {
  return graph(R"({"name":"a"},{"name":"b","dependsOn":["a"]})", annotations);
}

const std::vector<Malformed>& roots() {
  static const std::vector<Malformed> kCases{
      {"[]", "expected a mapping, got a list"},
      {R"("text")", "expected a mapping, got a text"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"name":"w"},"spec":{"taskType":"echo"},"sepc":{}})",
       "sepc: unknown key 'sepc'; did you mean 'spec'?"},
      {R"({"kind":"W","metadata":{"name":"w"},"spec":{"taskType":"echo"}})",
       "apiVersion: the key 'apiVersion' is missing"},
      {R"({"apiVersion":"holdfast/v9","kind":"W","metadata":{"name":"w"},"spec":{"taskType":"echo"}})",
       "apiVersion: expected holdfast/v1 or flowmesh/v1, got 'holdfast/v9'"},
      {R"({"apiVersion":"holdfast/v1","metadata":{"name":"w"},"spec":{"taskType":"echo"}})",
       "kind: the key 'kind' is missing"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","spec":{"taskType":"echo"}})",
       "metadata: the key 'metadata' is missing"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"name":"w"}})",
       "spec: the key 'spec' is missing"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"name":"w"},"spec":"x"})",
       "spec: expected a mapping, got a text"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"nmae":"w","name":"w"},"spec":{"taskType":"echo"}})",
       "metadata.nmae: unknown key 'nmae'; did you mean 'name'?"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"owner":"me"},"spec":{"taskType":"echo"}})",
       "metadata.name: the key 'name' is missing"},
      {R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"name":7},"spec":{"taskType":"echo"}})",
       "metadata.name: expected a text, got a number"},
      {document(R"({"taskType":"echo"})", "[]"),
       "metadata.annotations: expected a mapping, got a list"},
  };
  return kCases;
}

const std::vector<Malformed>& shapes() {
  static const std::vector<Malformed> kCases{
      {document(R"({"taskType":"echo","stages":[{}],"graph":{"nodes":[{}]}})"),
       "spec: 'stages' and 'graph' exclude each other"},
      {document(R"({"taskType":"echo","stages":[]})"), "spec.stages: the list is empty"},
      {document(R"({"taskType":"echo","stages":{}})"),
       "spec.stages: expected a list, got a mapping"},
      {document(R"({"taskType":"echo","graph":{"nodes":[]}})"),
       "spec.graph.nodes: the list is empty"},
      {document(R"({"taskType":"echo","graph":{}})"),
       "spec.graph.nodes: the key 'nodes' is missing"},
      {document(R"({"taskType":"echo","graph":{"nodes":[{}],"edges":[]}})"),
       "spec.graph.edges: unknown key 'edges'; allowed: nodes"},
      {graph("7"), "spec.graph.nodes[0]: expected a mapping, got a number"},
      {graph(R"({},{"depends_on":[]})"),
       "spec.graph.nodes[1].depends_on: unknown key 'depends_on'; did you mean 'dependsOn'?"},
      {graph(R"({"spec":[]})"), "spec.graph.nodes[0].spec: expected a mapping, got a list"},
      {graph(R"({"name":"a.b"})"),
       "spec.graph.nodes[0].name: 'a.b' is not a name: use letters, digits, '_' and '-', and do "
       "not begin with '-'"},
      {graph(R"({"name":""})"), "spec.graph.nodes[0].name: the name is empty"},
      {graph(R"({"name":5})"),
       "spec.graph.nodes[0].name: expected a text, got a number; quote it if it is meant as a "
       "name"},
      {graph(R"({"name":"foreach"})"),
       "spec.graph.nodes[0].name: 'foreach' is reserved: in references it stands for the element "
       "of a foreach"},
      {graph(R"({"name":")" + std::string(129, 'x') + R"("})"),
       "spec.graph.nodes[0].name: the name has more than 128 bytes"},
      {graph(R"({"name":"a","id":"b"})"),
       "spec.graph.nodes[0].id: 'name' and 'id' differ: give one of them"},
      {graph(R"({"name":"a"},{"name":"a"})"),
       "spec.graph.nodes[1].name: duplicate name 'a': spec.graph.nodes[0] has it too"},
      {graph(R"({"name":"node-2"},{})"),
       "spec.graph.nodes[1].name: duplicate name 'node-2': spec.graph.nodes[0] has it too"},
      {graph(R"({"foreach":[]})"),
       "spec.graph.nodes[0].foreach: the list is empty: foreach needs at least one element"},
      {graph(R"({"foreach":"${a.list}"})"),
       "spec.graph.nodes[0].foreach: expected a list, got a text"},
  };
  return kCases;
}

const std::vector<Malformed>& dependencies() {
  static const std::vector<Malformed> kCases{
      {graph(R"({"name":"a","dependsOn":"b"})"),
       "spec.graph.nodes[0].dependsOn: expected a list, got a text"},
      {graph(R"({"name":"a"},{"name":"b","dependsOn":["a",3]})"),
       "spec.graph.nodes[1].dependsOn[1]: expected the name of a node, got a number"},
      {graph(R"({"name":"train"},{"name":"b","dependsOn":["tarin"]})"),
       "spec.graph.nodes[1].dependsOn[0]: there is no node 'tarin'; did you mean 'train'?"},
      {graph(R"({"name":"a"},{"name":"b","dependsOn":["aa"],"spec":{"x":"${a.v}"}})"),
       "spec.graph.nodes[1].dependsOn[0]: there is no node 'aa'; did you mean 'a'?"},
      {graph(R"({"name":"a","dependsOn":["a"]})"),
       "spec.graph.nodes[0].dependsOn[0]: the node 'a' depends on itself"},
      {graph(
           R"({"name":"a","dependsOn":["c"]},{"name":"b","dependsOn":["a"]},{"name":"c","dependsOn":["b"]},
                {"name":"d","dependsOn":["c"]})"),
       "spec.graph.nodes[0].dependsOn: the dependencies form a cycle: a -> c -> b -> a"},
      {stages(R"({"name":"a"},{"name":"b","dependsOn":["c"]},{"name":"c"})"),
       "spec.stages[1].dependsOn[0]: the stage 'c' comes later: a stage can depend only on stages "
       "before it"},
      {task(R"("dependsOn":["a"])"),
       "spec.dependsOn: 'dependsOn' belongs to the node, beside its 'spec'"},
      {graph(R"({"name":"a","spec":{"foreach":[1]}})"),
       "spec.graph.nodes[0].spec.foreach: 'foreach' belongs to the node, beside its 'spec'"},
      {ab(hint("7")), "metadata.annotations.schedule_hint: expected a mapping, got a number"},
      {ab(hint(R"({"epochs":[]})")),
       "metadata.annotations.schedule_hint.epochs: unknown key 'epochs'; allowed: "
       "node_execution_order, node_schedule_in_epoch_order, selected_worker"},
      {ab(hint(R"({"node_execution_order":[]})")),
       "metadata.annotations.schedule_hint.node_execution_order: the list is empty"},
      {ab(hint(R"({"node_execution_order":[["a"],[],["b"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order[1]: the epoch is empty"},
      {ab(hint(R"({"node_execution_order":[["a"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order: the node 'b' is in no epoch"},
      {ab(hint(R"({"node_execution_order":[["a","b"],["a"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order[1][0]: the node 'a' is already in "
       "an epoch"},
      {ab(hint(R"({"node_execution_order":[["a"],["b","x"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order[1][1]: there is no node 'x'"},
      {ab(hint(R"({"node_execution_order":[["b"],["a"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order: the node 'b' depends on 'a', "
       "which is in a later epoch"},
      {ab(hint(R"({"node_execution_order":[["b","a"]]})")),
       "metadata.annotations.schedule_hint.node_execution_order: the node 'b' depends on 'a', "
       "which comes after it in the same epoch"},
      {ab(hint(R"({"node_execution_order":["a","b"],"node_schedule_in_epoch_order":false})")),
       "metadata.annotations.schedule_hint.node_execution_order: a flat list is one epoch in "
       "order, and node_schedule_in_epoch_order is false; write a list of lists"},
      {ab(hint(R"({"node_schedule_in_epoch_order":"yes"})")),
       "metadata.annotations.schedule_hint.node_schedule_in_epoch_order: expected true or false, "
       "got a text"},
      {ab(hint(R"({"selected_worker":[]})")),
       "metadata.annotations.schedule_hint.selected_worker: the list is empty: no worker could run "
       "the node"},
      {ab(hint(R"({"selected_worker":{"selected":{"x":"w"}}})")),
       "metadata.annotations.schedule_hint.selected_worker.selected.x: there is no node 'x'"},
  };
  return kCases;
}

const std::vector<Malformed>& specs() {
  static const std::vector<Malformed> kCases{
      {document("{}"), "spec.taskType: the key 'taskType' is missing; allowed: echo, http, train"},
      {document(R"({"graph":{"nodes":[{"name":"a"}]}})"),
       "spec.graph.nodes[0].spec.taskType: the key 'taskType' is missing; allowed: echo, http, "
       "train"},
      {graph(R"({"spec":{"taskType":"ehco"}})"),
       "spec.graph.nodes[0].spec.taskType: unknown task type 'ehco'; did you mean 'echo'? allowed: "
       "echo, http, train"},
      {task(R"("resources":{"cpus":2})"),
       "spec.resources.cpus: unknown key 'cpus'; did you mean 'cpu'?"},
      {task(R"("resources":{"hardware":{"disk":1}})"),
       "spec.resources.hardware.disk: unknown key 'disk'; allowed: cpu, memory, gpu"},
      {task(R"("resources":{"hardware":{"gpu":{"vram":1}}})"),
       "spec.resources.hardware.gpu.vram: unknown key 'vram'; allowed: type, count, memory"},
      {task(R"("resources":{"memory":"256Mib"})"),
       "spec.resources.memory: expected an amount of memory, such as 256Mi or 16GB"},
      {task(R"("resources":{"cpu":-1})"),
       "spec.resources.cpu: expected a number of processors, such as 2, 0.5 or 500m"},
      {task(R"("resources":{"cpu":1,"hardware":{"cpu":2}})"),
       "spec.resources.cpu: 'cpu' is in 'hardware' too"},
      {task(R"("resources":{"gpu":{"count":1.5}})"),
       "spec.resources.gpu.count: expected a number of devices, from 0 to 4096"},
      {task(R"("resources":{"labels":{"zone":1}})"),
       "spec.resources.labels.zone: expected a text, got a number"},
      {task(R"("resources":{"recipe":"${a.b}"})"),
       "spec.resources.recipe: '${a.b}': references are not resolved here"},
      {task(R"("resources":{"queue":"a b"})"),
       "spec.resources.queue: 'a b' is not a name: use letters, digits and '_-./:@'"},
      {task(R"("priority":1.5)"),
       "spec.priority: expected a whole number from -1000000 to 1000000"},
      {task(R"("maxAttempts":0)"), "spec.maxAttempts: with 0 attempts the task can never run"},
      {task(R"("maxAttempts":-2)"),
       "spec.maxAttempts: expected a whole number from 1 to 1000000, or -1 for no limit"},
      {task(R"("queueTimeout":30)"),
       "spec.queueTimeout: expected a duration up to 366 days, such as 90s or 1h30m"},
      {task(R"("effects":"idempotant")"),
       "spec.effects: expected none, idempotent or external, got 'idempotant'; did you mean "
       "'idempotent'?"},
      {task(R"("preemptible":"yes")"), "spec.preemptible: expected true or false, got a text"},
      {task(R"("concurrency":{"key":"x"})"), "spec.concurrency: the key 'limit' is missing"},
      {task(R"("concurrency":{"key":"x","limit":0})"),
       "spec.concurrency.limit: expected a whole number from 1 to 1000000"},
      {graph(
           R"({"spec":{"concurrency":{"key":"x","limit":1}}},{"spec":{"concurrency":{"key":"x","limit":2}}})"),
       "spec.graph.nodes[1].spec.concurrency.limit: another task gives the key 'x' the limit 1"},
      {graph(
           R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"condition":{"node":"a","field":"x","filed":"x","equals":1}}})"),
       "spec.graph.nodes[1].spec.condition.filed: unknown key 'filed'; did you mean 'field'?"},
      {graph(
           R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"condition":{"node":"a","field":"x"}}})"),
       "spec.graph.nodes[1].spec.condition: the key 'equals' is missing"},
      {graph(
           R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"condition":{"node":"a","field":"x","equals":[1]}}})"),
       "spec.graph.nodes[1].spec.condition.equals: expected a text, a number, true, false or null, "
       "got a list"},
      {graph(
           R"({"name":"a"},{"name":"b","spec":{"condition":{"node":"a","field":"x","equals":1}}})"),
       "spec.graph.nodes[1].spec.condition.node: the node 'a' is not upstream of 'b': add it to "
       "dependsOn"},
      {graph(
           R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"condition":{"node":"a","field":"x..y","equals":1}}})"),
       "spec.graph.nodes[1].spec.condition.field: the path has an empty step"},
  };
  return kCases;
}

const std::vector<Malformed>& references() {
  static const std::vector<Malformed> kCases{
      {graph(R"({"name":"a"},{"name":"b","dependsOn":["a"],"spec":{"x":["${aa.v}"]}})"),
       "spec.graph.nodes[1].spec.x[0]: there is no node 'aa'; did you mean 'a'? (in ${aa.v}; write "
       "'$${' for a literal '${')"},
      {graph(R"({"name":"a"},{"name":"b","spec":{"x":{"y":"see ${a.v}"}}})"),
       "spec.graph.nodes[1].spec.x.y: the node 'a' is not upstream of 'b': add it to dependsOn"},
      {graph(R"({"name":"a","dependsOn":["b"]},{"name":"b","spec":{"x":"${a.v}"}})"),
       "spec.graph.nodes[1].spec.x: the node 'a' is not upstream of 'b': add it to dependsOn"},
      {graph(R"({"name":"a","spec":{"x":"${a.v}"}})"),
       "spec.graph.nodes[0].spec.x: the node 'a' reads itself"},
      {task(R"("x":"${a.v")"),
       "spec.x: '${' without a closing '}'; write '$${' for a literal '${'"},
      {task(R"("x":"${}")"), "spec.x: '${}': the name is empty; write '$${' for a literal '${'"},
      {task(R"("x":"${a b}")"),
       "spec.x: '${a b}': 'a b' is not a name: use letters, digits, '_' and '-', and do not begin "
       "with '-'; write '$${' for a literal '${'"},
      {task(R"("x":"${a.items[x]}")"),
       "spec.x: '${a.items[x]}': a list step is a whole number, got '[x]'; write '$${' for a "
       "literal '${'"},
      {task(R"("x":"${a.items[0}")"),
       "spec.x: '${a.items[0}': '[' without a closing ']'; write '$${' for a literal '${'"},
      {task(R"("x":{"node":"a","path":""})"), "spec.x.path: the path is empty"},
      {task(R"("x":{"node":"a b","path":"v"})"),
       "spec.x.node: 'a b' is not a name: use letters, digits, '_' and '-', and do not begin with "
       "'-'"},
      {task(R"("x":"${foreach.item}")"), "spec.x: ${foreach.item}: the node has no foreach"},
      {graph(R"({"foreach":[1],"spec":{"x":"${foreach.value}"}})"),
       "spec.graph.nodes[0].spec.x: ${foreach.value}: write ${foreach.item} or ${foreach.index}"},
      {graph(R"({"foreach":["${foreach.index}"]})"),
       "spec.graph.nodes[0].foreach[0]: ${foreach.index}: an element of a foreach cannot refer to "
       "itself"},
      {graph(R"({"name":"a","foreach":[1,2]},{"dependsOn":["a"],"spec":{"x":"${a[2].v}"}})"),
       "spec.graph.nodes[1].spec.x: ${a[2].v}: the foreach of 'a' has 2 elements, and none at 2"},
      {document(
           R"({"taskType":"echo","x":"${a.v}","graph":{"nodes":[{"name":"a"},{"name":"b","dependsOn":["a"]}]}})"),
       "spec.x: the node 'a' reads itself"},
  };
  return kCases;
}

TEST(Malformed, each_document_gets_one_error_that_names_the_place) {
  std::size_t count = 0;
  for (const auto* cases : {&roots(), &shapes(), &dependencies(), &specs(), &references()}) {
    for (const Malformed& each : *cases) {
      EXPECT_EQ(errors_of(each.json), Lines{each.error}) << each.json;
      ++count;
    }
  }
  EXPECT_GE(count, 50U);
}

TEST(Malformed, a_word_that_a_terminal_would_obey_is_spelt_out) {
  EXPECT_EQ(errors_of(task(R"("resources":{"a\u001b[31m b":1})")),
            Lines{R"(spec.resources["a\u001b[31m b"]: unknown key 'a\x1b[31m b'; allowed: )"
                  "hardware, cpu, memory, gpu, labels, recipe, queue, estimatedLoad"});
}

TEST(Malformed, what_passes_a_bound_is_refused) {
  const auto with = [](std::size_t most) {
    CompileOptions some = testing::options();
    some.max_tasks = most;
    return some;
  };
  EXPECT_EQ(errors_of(graph("{},{},{}"), with(2)),
            Lines{"spec.graph.nodes: there are 3 of them; a graph has at most 2 tasks"});
  EXPECT_EQ(errors_of(graph(R"({"foreach":[1,2]},{})"), with(2)),
            Lines{"spec: a graph has at most 2 tasks, one for each element of a foreach"});
  EXPECT_EQ(errors_of(task(R"("x":")" + std::string(kMaxSpecBytes, 'x') + "\"")),
            Lines{"spec: the spec has 262152 bytes; at most 262144 are allowed"});
  EXPECT_EQ(errors_of(task(R"("x":)" + std::string(kMaxSpecDepth, '[') +
                           std::string(kMaxSpecDepth, ']'))),
            Lines{"spec: the spec is nested deeper than 48"});
  EXPECT_EQ(errors_of(graph(R"({"foreach":[")" + std::string(kMaxElementBytes, 'x') + R"("]})")),
            Lines{"spec.graph.nodes[0].foreach[0]: the element has more than 65536 bytes"});
  EXPECT_EQ(
      errors_of(task(R"("x":"${a.)" + std::string(kMaxReferenceBytes, 'b') + R"(}")")),
      Lines{"spec.x: '${' without a closing '}' within 512 bytes; write '$${' for a literal '${'"});
  std::string steps;
  for (std::size_t i = 0; i <= kMaxPathSteps; ++i) steps += ".b";
  EXPECT_EQ(errors_of(task(R"("x":"${a)" + steps + R"(}")")).size(), 1U);
}

TEST(Malformed, a_small_document_cannot_ask_for_a_huge_plan) {
  std::string nodes = "{}";
  for (int i = 1; i < 2000; ++i) nodes += ",{}";
  EXPECT_EQ(errors_of(document(R"({"taskType":"echo","x":")" + std::string(200'000, 'x') +
                               R"(","graph":{"nodes":[)" + nodes + "]}}")),
            Lines{"spec: the specs of all tasks have more than 268435456 bytes after the "
                  "template is merged"});
  // A thousand elements behind ten thousand nodes would be ten million dependencies.
  std::string many = R"({"name":"n0"})";
  std::string names = "\"n0\"";
  for (int i = 1; i < 10'000; ++i) {
    many += R"(,{"name":"n)" + std::to_string(i) + "\"}";
    names += ",\"n" + std::to_string(i) + "\"";
  }
  std::string elements = "0";
  for (int i = 1; i < 1000; ++i) elements += ",0";
  EXPECT_EQ(
      errors_of(graph(many + R"(,{"dependsOn":[)" + names + R"(],"foreach":[)" + elements + "]}")),
      Lines{"spec: there are more than 2000000 dependencies between tasks"});
}

TEST(Malformed, a_long_cycle_is_shortened) {
  std::string nodes;
  for (int i = 0; i < 50'000; ++i) {
    nodes += (i == 0 ? "" : ",") + std::string(R"({"name":"n)") + std::to_string(i) +
             R"(","dependsOn":["n)" + std::to_string((i + 1) % 50'000) + "\"]}";
  }
  EXPECT_EQ(errors_of(graph(nodes)),
            Lines{"spec.graph.nodes[0].dependsOn: the dependencies form a cycle: n0 -> n1 -> n2 "
                  "-> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> ... (49990 more) -> n0"});
}

}  // namespace
}  // namespace holdfast::tasks
