// SPDX-License-Identifier: Apache-2.0
// Runner: what performs one kind of task. All calls are on the thread of the worker's loop, and
// none of them waits. A runner reports each task that it was given exactly once as ended, unless it
// was told to abandon it.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/messages.h"

namespace holdfast::work {

// Where runners report.
class TaskReports {
 public:
  virtual ~TaskReports() = default;
  virtual void ended(const std::string& dispatch, Ended ended) = 0;

  // It has made room as it was asked to. `resume`: a canonical value, or empty.
  virtual void yielded(const std::string& dispatch, base::Bytes resume) = 0;
  virtual void line(const std::string& dispatch, bool is_error, std::string_view text) = 0;
  virtual void progress(const std::string& dispatch, std::string json) = 0;
};

// How a task is asked to end: it may finish what it does; SIGTERM; SIGKILL.
enum class Urgency : std::uint8_t { kSoft, kTerminate, kKill };

class Runner {
 public:
  virtual ~Runner() = default;

  // The task types that it runs.
  virtual std::vector<std::string> types() const = 0;

  virtual void start(const Task& task, TaskReports& reports) = 0;
  virtual void stop(const std::string& dispatch, StopReason reason, Urgency urgency) = 0;

  // Ends it at once; nothing is reported.
  virtual void abandon(const std::string& dispatch) = 0;

  // What to poll for, and what came of it: the same descriptors in the same order.
  virtual void add_polled(std::vector<pollfd>& /*polled*/) {}
  virtual void go_on(const pollfd* /*polled*/, TaskReports& /*reports*/) {}
  virtual std::size_t polled_count() const { return 0; }

  // When go_on is to be called although nothing happened, by the clock since boot.
  virtual std::int64_t due_ns() const { return INT64_MAX; }

  // Tasks that are over for the server but still have a slot here.
  virtual std::size_t blocked() const { return 0; }
};

}  // namespace holdfast::work
