// SPDX-License-Identifier: Apache-2.0
#include "workers/task_of.h"

#include <algorithm>

#include "base/error.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "tasks/task_codec.h"

namespace holdfast::workers {
namespace {

std::string text_at(codec::View map, std::string_view name) {
  const auto value = map.find(name);
  return std::string(value ? value->text().value_or("") : "");
}

std::uint64_t nat_at(codec::View map, std::string_view name) {
  const auto value = map.find(name);
  return value ? value->nat().value_or(0) : 0;
}

}  // namespace

std::string queue_of(const tasks::Resources& resources) {
  return resources.queue.empty() ? std::string(tasks::kDefaultQueue) : resources.queue;
}

base::Result<TaskParams> read_params(base::ByteView params) {
  const codec::View map = codec::View::of(params);
  TaskParams read;
  read.graph = text_at(map, "graph");
  read.number = nat_at(map, "number");
  read.name = text_at(map, "name");
  read.type = text_at(map, "type");
  read.attempt = std::max<std::uint64_t>(nat_at(map, "attempt"), 1);
  read.timeout_ns = nat_at(map, "timeout_ns");
  if (const auto avoid = map.find("avoid")) {
    for (const codec::View each : avoid->elements())
      read.avoid.emplace_back(each.text().value_or(""));
  }
  const auto task = map.find("task");
  if (!task || read.graph.empty() || read.type.empty())
    return base::invalid("", "the params are not those of a task");
  read.definition = task->encoded();
  return read;
}

base::Result<TaskOfWork> task_of(const WorkView& work) {
  const TaskParams params = TRY(read_params(work.params));
  tasks::TaskDefinition definition = TRY(tasks::read_task(codec::View::of(params.definition)));
  TaskOfWork made;
  made.attempt = params.attempt;
  made.log = params.graph + "/" + std::to_string(params.number);
  if (definition.policy.max_attempts) made.max_attempts = *definition.policy.max_attempts;
  made.may_run_again = tasks::may_run_again(definition.policy);
  if (params.timeout_ns != 0) made.time_limit_ns = params.timeout_ns + kTimeLimitSlackNs;
  dispatch::Task& task = made.task;
  task.intent = {work.intent.bytes};
  task.graph = params.graph;
  task.demand.queue = queue_of(definition.resources);
  task.demand.type = params.type;
  task.demand.resources = std::move(definition.resources);
  task.demand.selected = std::move(definition.workers);
  task.demand.avoided = params.avoid;
  std::ranges::sort(task.demand.avoided);
  task.priority = definition.policy.priority;
  task.position = definition.position;
  if (definition.policy.concurrency) {
    task.key = definition.policy.concurrency->key;
    task.key_limit = definition.policy.concurrency->limit;
  }
  task.queued_ns = work.queued_ns;
  return made;
}

Execution next_execution(std::uint64_t attempt, std::uint64_t losses,
                         std::optional<std::uint64_t> max_attempts, bool may_run_again) noexcept {
  Execution execution;
  execution.attempt = attempt + losses;
  const bool is_last = max_attempts && execution.attempt >= *max_attempts;
  if (is_last || !may_run_again) execution.if_lost = IfLost::kFail;
  return execution;
}

Bytes detail_of(const std::vector<std::uint32_t>& devices) {
  if (devices.empty()) return {};
  codec::Buffer out;
  codec::write_list_head(out, devices.size());
  for (const std::uint32_t device : devices) codec::write_nat(out, device);
  const base::ByteView bytes = out.view();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint32_t> devices_of(std::span<const std::uint8_t> detail) {
  std::vector<std::uint32_t> devices;
  if (detail.empty()) return devices;
  for (const codec::View each : codec::View::of(detail).elements())
    devices.push_back(static_cast<std::uint32_t>(each.nat().value_or(0)));
  return devices;
}

}  // namespace holdfast::workers
