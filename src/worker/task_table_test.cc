// SPDX-License-Identifier: Apache-2.0
#include "worker/task_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/sim_disk.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

// Does nothing by itself, and writes down what it is asked for.
class PatientRunner : public Runner {
 public:
  explicit PatientRunner(std::vector<std::string>& asked) : asked_(asked) {}
  std::vector<std::string> types() const override { return {"wait"}; }
  void start(const Task& task, TaskReports&) override {
    asked_.push_back("start " + task.dispatch);
  }
  void stop(const std::string& dispatch, StopReason reason, Urgency) override {
    asked_.push_back((reason == StopReason::kPreempt ? "yield " : "stop ") + dispatch);
  }
  void abandon(const std::string& dispatch) override { asked_.push_back("abandon " + dispatch); }

 private:
  std::vector<std::string>& asked_;
};

class TaskTableTest : public ::testing::Test {
 protected:
  TaskTableTest() { start("1", ""); }

  void start(const std::string& dispatch, const std::string& resume) {
    Task task;
    task.dispatch = dispatch;
    task.kind = "task";
    task.type = "wait";
    if (!resume.empty()) task.resume = *value_of_json(resume);
    tasks.start(task);
  }

  // The report of the task.
  std::string report(const std::string& dispatch = "1") {
    const auto held = outbox.held().find(dispatch);
    return held == outbox.held().end() ? "none" : std::string(json_of(held->second));
  }
  static TaskTable::Runners runners(std::vector<std::string>& asked) {
    TaskTable::Runners made;
    made.push_back(std::make_unique<PatientRunner>(asked));
    return made;
  }

  env::SimDisk disk;
  Outbox outbox = *Outbox::open(disk, "./outbox");
  LogLines logs;
  std::unique_ptr<env::Random> random = env::seeded_random(1);
  std::unique_ptr<env::Clock> clock = env::posix_clock();
  Conversation conversation{{}, outbox, logs, *random};
  std::vector<std::string> asked;
  TaskTable tasks{conversation, outbox, logs, *clock, runners(asked)};
};

TEST_F(TaskTableTest, a_task_that_is_asked_yields_with_what_it_resumes_with) {
  tasks.ask_to_yield("1");
  EXPECT_EQ(asked.back(), "yield 1");
  EXPECT_EQ(tasks.due_ns(), INT64_MAX) << "it is not ended by force";
  tasks.yielded("1", *value_of_json(R"({"at":5})"));
  EXPECT_EQ(report(), R"({"d":"1","reason":"yield","resume":{"at":5}})");
  EXPECT_TRUE(tasks.empty());
}

TEST_F(TaskTableTest, a_task_that_is_asked_may_end_as_if_it_were_not) {
  tasks.ask_to_yield("1");
  EXPECT_EQ(report(), "none");
  tasks.ended("1", Ended::failed("x", "broken"));
  EXPECT_EQ(report(), R"({"d":"1","reason":"yield"})") << "a program that was ended by SIGTERM";
}

TEST_F(TaskTableTest, what_an_earlier_run_left_is_kept_when_this_one_leaves_nothing) {
  start("2", R"({"at":5})");
  tasks.ask_to_yield("2");
  tasks.ended("2", Ended::failed("x", "broken"));
  EXPECT_EQ(report("2"), R"({"d":"2","reason":"yield","resume":{"at":5}})");
  start("3", R"({"at":5})");
  tasks.ask_to_yield("3");
  tasks.yielded("3", *value_of_json("\"" + std::string(kMaxResumeBytes, 'x') + "\""));
  EXPECT_EQ(report("3"), R"({"d":"3","reason":"yield","resume":{"at":5}})");
}

TEST_F(TaskTableTest, a_failure_of_a_task_that_was_not_asked_is_a_failure) {
  tasks.ended("1", Ended::failed("x", "broken"));
  EXPECT_NE(report().find(R"("code":"x")"), std::string::npos) << report();
}

TEST_F(TaskTableTest, a_task_that_yields_without_being_asked_has_failed) {
  tasks.yielded("1", *value_of_json("1"));
  EXPECT_NE(report().find(R"("code":"task.yielded")"), std::string::npos) << report();
}

TEST_F(TaskTableTest, a_task_that_was_asked_to_yield_can_still_be_cancelled) {
  tasks.ask_to_yield("1");
  tasks.stop({"1", StopReason::kCancelled, 1000});
  EXPECT_EQ(asked.back(), "stop 1");
  EXPECT_NE(tasks.due_ns(), INT64_MAX);
  tasks.ended("1", Ended::failed("x", "broken"));
  EXPECT_NE(report().find(R"("status":"cancelled")"), std::string::npos) << report();
}

}  // namespace
}  // namespace holdfast::work
