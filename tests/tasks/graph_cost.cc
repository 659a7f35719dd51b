// SPDX-License-Identifier: Apache-2.0
// Runs a graph of some shape and size from its first part to its end in a world in memory, and
// prints how many tasks were done: for callgrind, which counts what is inside once().
//
//   graph_cost wide|chain|fan|epochs|wide_failing|wide_cancelled TASKS
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tasks/testing_run.h"

namespace holdfast::tasks {
namespace {

std::string nodes_of(const std::string& shape, int count) {
  std::string nodes;
  for (int i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    std::string depends;
    if (shape == "chain" && i > 0) depends = "n" + std::to_string(i - 1);
    if ((shape == "wide_failing" || shape == "wide_cancelled") && i > 0) depends = "n0";
    nodes += (i == 0 ? "" : ",") + std::string(R"({"name":")") + name + R"(","dependsOn":[)" +
             (depends.empty() ? "" : "\"" + depends + "\"") + "]}";
  }
  return nodes;
}

std::string document_of(const std::string& shape, int count) {
  if (shape == "fan") {  // 1 to n to 1
    std::string elements = "0";
    for (int i = 1; i < count - 2; ++i) elements += "," + std::to_string(i);
    return testing::graph(R"({"name":"first"},{"name":"each","dependsOn":["first"],"foreach":[)" +
                          elements + R"(]},{"name":"last","dependsOn":["each"]})");
  }
  std::string hint;
  if (shape == "epochs") {  // ten tasks each
    for (int i = 0; i < count; ++i)
      hint += (i == 0        ? "["
               : i % 10 == 0 ? "],["
                             : ",") +
              std::string("\"n") + std::to_string(i) + "\"";
    hint = R"({"schedule_hint":{"node_execution_order":[)" + hint + "]]}}";
  }
  return testing::graph(nodes_of(shape, count), hint);
}

__attribute__((noinline)) void once(testing::GraphRun& run, const Plan& plan,
                                    const std::string& shape) {
  run.submit(plan);
  if (shape == "wide_failing") run.failed("g/0");
  if (shape == "wide_cancelled") run.cancel();
  while (!run.runs().empty()) run.done(run.runs().begin()->first);
}

int run_graph(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: graph_cost SHAPE TASKS\n"), 2;
  const std::string shape = argv[1];
  const Plan plan = testing::plan_of(document_of(shape, std::atoi(argv[2])));
  testing::GraphRun run;
  run.keeps_journal = run.keeps_params = false;
  once(run, plan, shape);
  const GraphCell graph = run.graph();
  if (graph.phase != GraphPhase::kEnded) return std::fprintf(stderr, "it has not ended\n"), 1;
  std::printf("%u %u %u\n", graph.done, graph.failed, graph.cancelled);
  return 0;
}

}  // namespace
}  // namespace holdfast::tasks

int main(int argc, char** argv) { return holdfast::tasks::run_graph(argc, argv); }
