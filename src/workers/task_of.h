// SPDX-License-Identifier: Apache-2.0
// What the desk reads out of the params of sys/task.run@1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/dispatcher.h"
#include "holdfast/workers.h"
#include "tasks/task_definition.h"

namespace holdfast::workers {

inline constexpr std::string_view kTaskRun = "sys/task.run@1";

// Longer than the worker's own, so that it has time to report that the task took too long.
inline constexpr std::uint64_t kTimeLimitSlackNs = 10 * dispatch::kSecondNs;

struct TaskParams {
  std::string graph = {};
  std::uint64_t number = 0;
  std::string name = {};
  std::string type = {};
  std::uint64_t attempt = 1;  // the first execution of this intent
  std::uint64_t timeout_ns = 0;
  std::vector<std::string> avoid = {};
  base::ByteView definition = {};  // inside the params
};

// The queue that a task waits in.
std::string queue_of(const tasks::Resources& resources);

// kInvalid: they are not what a task has.
base::Result<TaskParams> read_params(base::ByteView params);

struct TaskOfWork {
  dispatch::Task task = {};
  std::string log = {};             // "graph/number"
  std::uint64_t time_limit_ns = 0;  // 0: none
  std::optional<std::uint64_t> max_attempts = {};
  bool may_run_again = true;
  std::uint64_t attempt = 1;
};
base::Result<TaskOfWork> task_of(const WorkView& work);

// How an execution that begins now is counted, and what becomes of the task if its worker is lost.
struct Execution {
  std::uint64_t attempt = 1;
  IfLost if_lost = IfLost::kReturn;
};
Execution next_execution(std::uint64_t attempt, std::uint64_t losses,
                         std::optional<std::uint64_t> max_attempts, bool may_run_again) noexcept;

// The detail of a lease: the devices.
Bytes detail_of(const std::vector<std::uint32_t>& devices);
std::vector<std::uint32_t> devices_of(std::span<const std::uint8_t> detail);

}  // namespace holdfast::workers
