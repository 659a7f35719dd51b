// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_progress.h"

#include <gtest/gtest.h>

#include "tasks/testing.h"

namespace holdfast::tasks {
namespace {

using testing::graph;
using testing::Lines;
using testing::plan_of;

// Plays facts on a graph and tells what came of each, such as "ready b; failed c by a".
class Play {
 public:
  explicit Play(std::string_view json) : plan_(plan_of(json)), progress_(shape_of(plan_)) {}

  std::string start() { return told(progress_.start()); }
  std::string done(std::string_view name) { return told(progress_.done(index_of(name))); }
  std::string failed(std::string_view name) { return told(progress_.failed(index_of(name))); }
  std::string returned(std::string_view name) { return told(progress_.returned(index_of(name))); }
  std::string cancel(std::string_view name) { return told(progress_.cancel(index_of(name))); }
  std::string cancelled(std::string_view name) { return told(progress_.cancelled(index_of(name))); }
  std::string cancel_all() { return told(progress_.cancel_all()); }
  void dispatched(std::string_view name) { progress_.dispatched(index_of(name)); }

  TaskState state(std::string_view name) const { return progress_.state(index_of(name)); }
  const GraphProgress& progress() const { return progress_; }

 private:
  TaskIndex index_of(std::string_view name) const { return testing::task_named(plan_, name).index; }
  std::string name_of(TaskIndex index) const {
    const TaskDefinition task = plan_.task(index);
    return (task.kind == TaskKind::kJoin ? "join " : "") + task.name;
  }
  std::string told(const Consequences& what) const {
    static constexpr const char* kStates[] = {"pending", "dispatched", "cancelling",
                                              "done",    "failed",     "cancelled"};
    static constexpr const char* kWhys[] = {"", " by ", " by earlier epoch of ", " with the graph"};
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    for (const EndedTask& ended : what.ended) {
      std::string part =
          std::string(kStates[static_cast<int>(ended.state)]) + " " + name_of(ended.task);
      part += kWhys[static_cast<int>(ended.why)];
      if (ended.why == Ending::kDependency || ended.why == Ending::kEarlierEpoch)
        part += name_of(ended.origin);
      add(part);
    }
    for (const TaskIndex task : what.to_stop) add("stop " + name_of(task));
    for (const TaskIndex task : what.ready) add("ready " + name_of(task));
    return text;
  }

  Plan plan_;
  GraphProgress progress_;
};

constexpr const char* kChainWithSide =
    R"({"name":"a"},{"name":"b","dependsOn":["a"]},{"name":"c","dependsOn":["b"]},
       {"name":"d","dependsOn":["c"]},{"name":"side"})";
constexpr const char* kDiamond =
    R"({"name":"a"},{"name":"b","dependsOn":["a"]},{"name":"c","dependsOn":["a"]},
       {"name":"d","dependsOn":["b","c"]})";
std::string epochs(std::string_view order) {
  return R"({"schedule_hint":{"node_execution_order":)" + std::string(order) + "}}";
}

TEST(GraphProgress, a_task_is_ready_when_all_it_depends_on_is_done) {
  Play play(graph(kDiamond));
  EXPECT_EQ(play.start(), "ready a");
  EXPECT_EQ(play.progress().status(), GraphStatus::kPending);
  play.dispatched("a");
  EXPECT_EQ(play.progress().status(), GraphStatus::kDispatched);
  EXPECT_EQ(play.done("a"), "done a; ready b; ready c");
  EXPECT_EQ(play.done("c"), "done c");
  EXPECT_EQ(play.done("b"), "done b; ready d");
  EXPECT_EQ(play.progress().verdict(), GraphVerdict::kOpen);
  EXPECT_EQ(play.done("d"), "done d");
  EXPECT_EQ(play.progress().status(), GraphStatus::kDone);
  EXPECT_EQ(play.progress().verdict(), GraphVerdict::kDone);
}

TEST(GraphProgress, a_failure_takes_all_descendants_and_leaves_other_branches) {
  Play play(graph(kChainWithSide));
  EXPECT_EQ(play.start(), "ready a; ready side");
  EXPECT_EQ(play.failed("a"), "failed a; failed b by a; failed c by a; failed d by a");
  EXPECT_EQ(play.progress().verdict(), GraphVerdict::kFailed);
  EXPECT_EQ(play.progress().status(), GraphStatus::kPending);
  EXPECT_EQ(play.done("side"), "done side");
  EXPECT_EQ(play.progress().status(), GraphStatus::kFailed);
  EXPECT_EQ(play.progress().counts(), (TaskCounts{0, 0, 1, 4, 0}));
}

TEST(GraphProgress, a_descendant_of_two_failures_names_the_first) {
  Play play(graph(kDiamond));
  play.start();
  play.done("a");
  EXPECT_EQ(play.failed("c"), "failed c; failed d by c");
  EXPECT_EQ(play.failed("b"), "failed b");
}

TEST(GraphProgress, ended_tasks_absorb_everything) {
  Play play(graph(kChainWithSide));
  play.start();
  play.done("a");
  play.failed("side");
  for (const char* const ended : {"a", "side"}) {
    const TaskState before = play.state(ended);
    const TaskCounts counts = play.progress().counts();
    play.dispatched(ended);
    EXPECT_EQ(play.done(ended) + play.failed(ended) + play.returned(ended) + play.cancel(ended) +
                  play.cancelled(ended),
              "");
    EXPECT_EQ(play.state(ended), before);
    EXPECT_EQ(play.progress().counts(), counts);
  }
}

TEST(GraphProgress, a_returned_task_is_ready_again) {
  Play play(graph(kChainWithSide));
  play.start();
  EXPECT_EQ(play.returned("a"), "");
  play.dispatched("a");
  EXPECT_EQ(play.progress().counts(), (TaskCounts{4, 1, 0, 0, 0}));
  EXPECT_EQ(play.returned("a"), "ready a");
  EXPECT_EQ(play.progress().counts(), (TaskCounts{5, 0, 0, 0, 0}));
}

TEST(GraphProgress, a_report_that_comes_before_the_dispatch_still_counts) {
  Play play(graph(kChainWithSide));
  play.start();
  EXPECT_EQ(play.done("a"), "done a; ready b");
  play.dispatched("a");
  EXPECT_EQ(play.state("a"), TaskState::kDone);
}

TEST(GraphProgress, the_frontier_moves_when_the_whole_epoch_is_done) {
  Play play(graph(R"({"name":"a"},{"name":"b"},{"name":"c","dependsOn":["a"]})",
                  epochs(R"([["a","b"],["c"]])")));
  EXPECT_EQ(play.start(), "ready a; ready b");
  EXPECT_EQ(play.done("a"), "done a");
  EXPECT_EQ(play.progress().frontier(), 0U);
  EXPECT_EQ(play.done("b"), "done b; ready c");
  EXPECT_EQ(play.progress().frontier(), 1U);
  EXPECT_EQ(play.done("c"), "done c");
  EXPECT_EQ(play.progress().frontier(), 2U);
}

TEST(GraphProgress, adopted_results_move_the_frontier_by_several_epochs) {
  Play play(graph(R"({"name":"a"},{"name":"b"},{"name":"c"},{"name":"d","dependsOn":["c"]})",
                  epochs(R"([["a"],["b"],["c"],["d"]])")));
  EXPECT_EQ(play.done("b"), "done b");
  EXPECT_EQ(play.done("c"), "done c");
  EXPECT_EQ(play.start(), "ready a");
  EXPECT_EQ(play.done("a"), "done a; ready d");
  EXPECT_EQ(play.progress().frontier(), 3U);
}

TEST(GraphProgress, a_failure_in_an_epoch_fails_later_epochs_and_not_its_siblings) {
  Play play(graph(R"({"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"})",
                  epochs(R"([["a"],["b","c"],["d"],["e"]])")));
  play.start();
  EXPECT_EQ(play.done("a"), "done a; ready b; ready c");
  EXPECT_EQ(play.failed("b"),
            "failed b; failed d by earlier epoch of b; failed e by earlier epoch of b");
  EXPECT_EQ(play.done("c"), "done c");
  EXPECT_EQ(play.progress().frontier(), 1U);
  EXPECT_EQ(play.progress().status(), GraphStatus::kFailed);
}

TEST(GraphProgress, a_descendant_in_a_later_epoch_fails_by_its_dependency) {
  Play play(graph(R"({"name":"a"},{"name":"b"},{"name":"c","dependsOn":["a"]},{"name":"d"})",
                  epochs(R"([["a","b"],["c","d"]])")));
  play.start();
  EXPECT_EQ(play.failed("a"), "failed a; failed c by a; failed d by earlier epoch of a");
  EXPECT_EQ(play.failed("b"), "failed b");
}

TEST(GraphProgress, a_join_is_done_with_its_last_element) {
  Play play(graph(R"({"name":"s","foreach":[1,2]},{"name":"e","dependsOn":["s"],"foreach":[1,2]},
                     {"name":"z","dependsOn":["e"]})"));
  EXPECT_EQ(play.start(), "ready s[0]; ready s[1]");
  EXPECT_EQ(play.progress().counts(), (TaskCounts{5, 0, 0, 0, 0}));
  EXPECT_EQ(play.done("s[1]"), "done s[1]");
  EXPECT_EQ(play.done("s[0]"), "done s[0]; done join s; ready e[0]; ready e[1]");
  EXPECT_EQ(play.failed("e[0]"), "failed e[0]; failed join e by e[0]; failed z by e[0]");
  EXPECT_EQ(play.done("e[1]"), "done e[1]");
  EXPECT_EQ(play.progress().counts(), (TaskCounts{0, 0, 3, 2, 0}));
}

TEST(GraphProgress, a_join_takes_no_facts_of_its_own) {
  const Plan plan = plan_of(graph(R"({"name":"s","foreach":[1]},{"name":"e","dependsOn":["s"]})"));
  GraphProgress progress(shape_of(plan));
  progress.start();
  const TaskIndex join = testing::task_named(plan, "s", TaskKind::kJoin).index;
  EXPECT_TRUE(progress.done(join).ended.empty());
  EXPECT_TRUE(progress.failed(join).ended.empty());
  EXPECT_TRUE(progress.cancel(join).ended.empty());
  progress.dispatched(join);
  EXPECT_EQ(progress.state(join), TaskState::kPending);
}

TEST(GraphProgress, what_is_cancelling_ends_cancelled_whatever_comes) {
  const char* const ends[] = {"done", "failed", "returned", "cancelled"};
  for (const std::string end : ends) {
    Play play(graph(kChainWithSide));
    play.start();
    play.dispatched("a");
    EXPECT_EQ(play.cancel("a"), "stop a");
    EXPECT_EQ(play.cancel("a"), "");
    EXPECT_EQ(play.state("a"), TaskState::kCancelling);
    const std::string told = end == "done"       ? play.done("a")
                             : end == "failed"   ? play.failed("a")
                             : end == "returned" ? play.returned("a")
                                                 : play.cancelled("a");
    EXPECT_EQ(told, "cancelled a; cancelled b by a; cancelled c by a; cancelled d by a") << end;
    EXPECT_EQ(play.done("side"), "done side");
    EXPECT_EQ(play.progress().status(), GraphStatus::kCancelled);
    EXPECT_EQ(play.progress().verdict(), GraphVerdict::kCancelled);
  }
}

TEST(GraphProgress, cancelling_the_graph_ends_what_waits_and_stops_what_runs) {
  Play play(graph(kDiamond));
  play.start();
  play.done("a");
  play.dispatched("b");
  EXPECT_EQ(play.cancel_all(), "cancelled c with the graph; cancelled d with the graph; stop b");
  EXPECT_EQ(play.progress().status(), GraphStatus::kDispatched);
  EXPECT_EQ(play.failed("b"), "cancelled b");
  EXPECT_EQ(play.progress().status(), GraphStatus::kCancelled);
}

TEST(GraphProgress, a_failure_outweighs_a_cancellation) {
  Play play(graph(R"({"name":"a"},{"name":"b"})"));
  play.start();
  play.cancel("a");
  play.failed("b");
  EXPECT_EQ(play.progress().verdict(), GraphVerdict::kFailed);
  EXPECT_EQ(play.progress().status(), GraphStatus::kFailed);
}

TEST(GraphProgress, an_adopted_result_protects_what_comes_after_it) {
  Play play(graph(kChainWithSide));
  play.done("b");
  EXPECT_EQ(play.start(), "ready a; ready c; ready side");
  EXPECT_EQ(play.failed("a"), "failed a");
  EXPECT_EQ(play.done("c"), "done c; ready d");
}

TEST(GraphProgress, a_chain_of_a_hundred_thousand_fails_without_recursion) {
  std::string nodes = R"({"name":"n0"})";
  for (int i = 1; i < 100'000; ++i)
    nodes += R"(,{"name":"n)" + std::to_string(i) + R"(","dependsOn":["n)" + std::to_string(i - 1) +
             "\"]}";
  const Plan plan = plan_of(graph(nodes));
  GraphProgress progress(shape_of(plan));
  progress.start();
  EXPECT_EQ(progress.failed(0).ended.size(), 100'000U);
  EXPECT_EQ(progress.status(), GraphStatus::kFailed);
}

}  // namespace
}  // namespace holdfast::tasks
