// SPDX-License-Identifier: Apache-2.0
// HttpRunner: type `http`. Sends one request, with the rules of the executor of sys/http.request:
// only to hosts that the operator of the worker allows, no redirects, certificates verified,
// answers bounded. The key of the task goes along as Idempotency-Key.
//
// Input: `url`; `method` (GET, or POST where there is a body); `headers`, a mapping of texts;
// `body`, text, or any other value, which is sent as JSON; `any_status`: true takes every status
// for a result. Result: {"status", "headers", "body"}, and "json" where the body is JSON. A status
// of 400 or more is the error http.status; trying again may help with 408, 425, 429 and from 500
// on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "env/clock.h"
#include "executors/allowed_hosts.h"
#include "executors/executor.h"
#include "executors/wake_up.h"
#include "worker/runner.h"

namespace holdfast::work {

// The params of sys/http.request@2 for a task. kInvalid names the place.
base::Result<base::Bytes> http_params(base::ByteView input);

// How a task ended whose request got this receipt (sys/HttpRequestReceipt@2).
Ended http_ended(base::ByteView receipt, bool takes_any_status);

class HttpRunner : public Runner, private executors::Reports {
 public:
  static base::Result<std::unique_ptr<HttpRunner>> to(
      const std::vector<executors::AllowedHost>& hosts, std::size_t slots, env::Clock& clock);
  ~HttpRunner() override;

  std::vector<std::string> types() const override { return {"http"}; }
  void start(const Task& task, TaskReports& reports) override;
  void stop(const std::string& dispatch, StopReason reason, Urgency urgency) override;
  void abandon(const std::string& dispatch) override;
  void add_polled(std::vector<pollfd>& polled) override;
  void go_on(const pollfd* polled, TaskReports& reports) override;
  std::size_t polled_count() const override { return 1; }

 private:
  struct Run {
    std::string dispatch;
    bool takes_any_status = false;
  };
  struct Heard {
    base::Hash intent;
    kernel::ReceiptStatus status;
    base::Bytes payload;
  };
  explicit HttpRunner(executors::WakeUp wake_up) : wake_up_(std::move(wake_up)) {}
  void report(const kernel::ReceiptArrived& receipt) override;  // on the executor's thread
  void report(const kernel::ProgressArrived&) override {}
  void forget(const std::string& dispatch);

  const executors::WakeUp wake_up_;
  std::map<base::Hash, Run> runs_;
  std::vector<std::string> stopped_;
  std::mutex mutex_;
  std::vector<Heard> heard_;
  std::unique_ptr<executors::Executor> executor_;  // goes first
};

}  // namespace holdfast::work
