// SPDX-License-Identifier: Apache-2.0
// Runs tasks with one runner, as the loop of a worker would. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "env/clock.h"
#include "worker/runner.h"

namespace holdfast::work::testing {

class RunnerStage : public TaskReports {
 public:
  explicit RunnerStage(Runner& runner) : runner_(runner) {}

  void start(const std::string& dispatch, const std::string& type, const std::string& input,
             std::uint64_t attempt = 1, const std::string& resume = "") {
    Task task;
    task.dispatch = dispatch;
    task.key = "sha256:" + std::string(64, '0');
    task.kind = "task";
    task.type = type;
    task.name = "name of " + dispatch;
    task.graph = "g";
    task.attempt = attempt;
    task.input = *value_of_json(input);
    if (!resume.empty()) task.resume = *value_of_json(resume);
    runner_.start(task, *this);
  }

  // Until the condition holds; a minute is for ever.
  template <class Condition>
  bool run_until(Condition condition) {
    const auto clock = env::posix_clock();
    const std::int64_t ends = clock->since_boot_ns() + 60'000'000'000;
    while (!condition()) {
      if (clock->since_boot_ns() > ends) return false;
      std::vector<pollfd> polled;
      runner_.add_polled(polled);
      const std::int64_t due = runner_.due_ns();
      const std::int64_t left =
          due == INT64_MAX ? 100 : (due - clock->since_boot_ns()) / 1'000'000 + 1;
      ::poll(polled.data(), polled.size(),
             static_cast<int>(std::clamp<std::int64_t>(left, 0, 100)));
      runner_.go_on(polled.data(), *this);
    }
    return true;
  }

  // The result as JSON, or "code: message".
  std::string outcome(const std::string& dispatch) {
    if (!run_until([&] { return ends_.contains(dispatch); })) return "never ended";
    const Ended& ended = ends_[dispatch];
    if (ended.status == Status::kOk) return codec::to_json(codec::View::of(ended.payload));
    return ended.error.code + ": " + ended.error.message;
  }
  bool is_retryable(const std::string& dispatch) { return ends_[dispatch].error.retryable; }
  bool has_ended(const std::string& dispatch) const { return ends_.contains(dispatch); }
  std::string lines(const std::string& dispatch) { return lines_[dispatch]; }
  std::string last_progress(const std::string& dispatch) { return progress_[dispatch]; }
  std::string resume(const std::string& dispatch) { return resumes_[dispatch]; }

  void ended(const std::string& dispatch, Ended ended) override {
    EXPECT_FALSE(ends_.contains(dispatch)) << "a task ends once";
    ends_[dispatch] = std::move(ended);
  }
  void yielded(const std::string& dispatch, base::Bytes resume) override {
    resumes_[dispatch] = codec::to_json(codec::View::of(resume));
    ends_[dispatch] = Ended::failed("yielded", "");
  }
  void line(const std::string& dispatch, bool is_error, std::string_view text) override {
    lines_[dispatch] += (is_error ? "err " : "out ") + std::string(text) + "\n";
  }
  void progress(const std::string& dispatch, std::string json) override {
    progress_[dispatch] = std::move(json);
  }

 private:
  Runner& runner_;
  std::map<std::string, Ended> ends_;
  std::map<std::string, std::string> lines_;
  std::map<std::string, std::string> progress_;
  std::map<std::string, std::string> resumes_;
};

}  // namespace holdfast::work::testing
