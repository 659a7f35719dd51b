// SPDX-License-Identifier: Apache-2.0
// NativeRunner: functions of this program as tasks (include/holdfast/worker.h), each on a thread of
// its own. A function cannot be made to end: one that does not listen to a stop keeps its slot
// until it returns, and nobody hears of its result.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/schema.h"
#include "executors/wake_up.h"
#include "holdfast/worker.h"
#include "worker/runner.h"

namespace holdfast::work {

class NativeRunner : public Runner {
 public:
  // kInvalid: a function has no name that a task type can have, or two have the same.
  static base::Result<std::unique_ptr<NativeRunner>> of(std::vector<TaskFunction> functions);
  ~NativeRunner() override;

  std::vector<std::string> types() const override;
  void start(const Task& task, TaskReports& reports) override;
  void stop(const std::string& dispatch, StopReason reason, Urgency urgency) override;
  void abandon(const std::string& dispatch) override;
  void add_polled(std::vector<pollfd>& polled) override;
  void go_on(const pollfd* polled, TaskReports& reports) override;
  std::size_t polled_count() const override { return 1; }
  std::size_t blocked() const override { return abandoned_; }

 private:
  struct Function {
    TaskFunction function;
    codec::Schema input;
    codec::Schema output;
  };
  struct Shared;  // with the threads, which may outlive this

  NativeRunner(std::map<std::string, std::shared_ptr<const Function>> functions,
               std::shared_ptr<Shared> shared);

  const std::map<std::string, std::shared_ptr<const Function>> functions_;
  const std::shared_ptr<Shared> shared_;
  std::map<std::string, std::shared_ptr<TaskCall::Body>> running_;
  std::size_t abandoned_ = 0;
};

}  // namespace holdfast::work
