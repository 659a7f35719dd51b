// SPDX-License-Identifier: Apache-2.0
// ProcessRunner: type `process`. Runs one of the programs that the operator of the worker has
// named, once for each task. It gets the input as one line of JSON on standard input and answers
// with JSON on standard output; no output is null. Standard error is the log, line by line.
//
// `program` in the input chooses among several programs, by path or by file name; `args` is a list
// of texts. The environment is the worker's own, with HOLDFAST_IDEMPOTENCY_KEY, HOLDFAST_ATTEMPT
// and HOLDFAST_TASK. Exit code 0: done. 65 (EX_DATAERR): failed, and trying again is useless. Any
// other code, and a signal: failed.
//
// HOLDFAST_RESUME is what an earlier run left. A program that is asked to yield gets SIGTERM; if it
// exits with 75 (EX_TEMPFAIL) then, its output is what the next run resumes with.
//
// A program that is stopped gets SIGTERM with its process group, and SIGKILL later. What is left of
// its group when it has ended is killed.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "executors/child.h"
#include "worker/limits.h"
#include "worker/line_splitter.h"
#include "worker/runner.h"

namespace holdfast::work {

class ProcessRunner : public Runner {
 public:
  // Programs by path, or by name in PATH. kInvalid, kNotFound: one of them cannot be run.
  static base::Result<std::unique_ptr<ProcessRunner>> of(const std::vector<std::string>& programs);

  std::vector<std::string> types() const override { return {"process"}; }
  void start(const Task& task, TaskReports& reports) override;
  void stop(const std::string& dispatch, StopReason reason, Urgency urgency) override;
  void abandon(const std::string& dispatch) override;
  void add_polled(std::vector<pollfd>& polled) override;
  void go_on(const pollfd* polled, TaskReports& reports) override;
  std::size_t polled_count() const override { return runs_.size() * kPolledOfRun; }

 private:
  static constexpr std::size_t kPolledOfRun = 4;

  struct Run {
    std::string dispatch;
    std::string program;
    std::unique_ptr<std::string> input;  // that the child still reads
    executors::Child child;
    std::string output = {};
    bool is_too_large = false;
    LineSplitter errors{kMaxLineBytes};
    std::string last_line = {};
    bool is_to_yield = false;
  };

  explicit ProcessRunner(std::vector<executors::Program> programs)
      : programs_(std::move(programs)) {}
  base::Result<executors::ChildPlan> plan_of(const Task& task);
  void read(Run& run, const pollfd* polled, bool has_ended, TaskReports& reports);
  // Ended, or yielded with what it resumes with.
  struct Outcome {
    Ended ended = {};
    std::optional<base::Bytes> resume = {};
  };
  Outcome outcome_of(Run& run);
  Ended ending_of(Run& run, const executors::Ending& ending);

  std::vector<executors::Program> programs_;
  std::list<Run> runs_;
};

}  // namespace holdfast::work
