// SPDX-License-Identifier: Apache-2.0
// EchoRunner: type `echo`. Answers {"items": [{"output": ITEM}, ...], "count": N} for the items in
// `data.items`; a list among them counts as its elements. `data.delay_sec`: answers after that many
// seconds; null, 0 and less mean at once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "worker/runner.h"

namespace holdfast::work {

// What the task answers, and after how long. kInvalid names the place.
struct Echo {
  base::Bytes result;
  std::uint64_t delay_ns = 0;
};
base::Result<Echo> read_echo(base::ByteView input);

class EchoRunner : public Runner {
 public:
  explicit EchoRunner(env::Clock& clock) : clock_(clock) {}

  std::vector<std::string> types() const override { return {"echo"}; }
  void start(const Task& task, TaskReports& reports) override;
  void stop(const std::string& dispatch, StopReason reason, Urgency urgency) override;
  void abandon(const std::string& dispatch) override;
  void go_on(const pollfd* polled, TaskReports& reports) override;
  std::int64_t due_ns() const override;

 private:
  struct Waiting {
    std::int64_t due_ns = 0;
    base::Bytes result;
    bool is_stopped = false;
  };
  env::Clock& clock_;
  std::map<std::string, Waiting> waiting_;
  std::set<std::pair<std::int64_t, std::string>> by_time_;
};

}  // namespace holdfast::work
