// SPDX-License-Identifier: Apache-2.0
#include "tasks/task_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"
#include "tasks/amounts.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "tasks/template_merge.h"

namespace holdfast::tasks {
namespace {

using codec::View;
using kernel::ListReader;

// Each range as the gap before it and its length.
void write_ranges(codec::Buffer& out, const TaskRanges& ranges) {
  codec::write_list_head(out, ranges.size() * 2);
  TaskIndex end = 0;
  for (const TaskRange& range : ranges) {
    codec::write_nat(out, range.first - end);
    codec::write_nat(out, range.count);
    end = range.end();
  }
}

TaskRanges read_ranges(ListReader& from) {
  const View list = from.next();
  ListReader numbers(list);
  TaskRanges ranges;
  std::uint64_t end = 0;
  while (numbers.good() && !numbers.at_end()) {
    const std::uint64_t gap = numbers.nat32();
    const std::uint64_t count = numbers.nat32();
    // Apart from each other, or they would be one range.
    numbers.require(count > 0 && (gap > 0 || ranges.empty()));
    const std::uint64_t first = end + gap;
    end = first + count;
    numbers.require(end <= std::numeric_limits<TaskIndex>::max());
    ranges.push_back({static_cast<TaskIndex>(first), static_cast<std::uint32_t>(count)});
  }
  from.require(numbers.done());
  return ranges;
}

void write_texts(codec::Buffer& out, const std::vector<std::string>& texts) {
  codec::write_list_head(out, texts.size());
  for (const std::string& text : texts) codec::write_text(out, text);
}

std::vector<std::string> read_texts(ListReader& from) {
  ListReader list(from.next());
  std::vector<std::string> texts;
  while (list.good() && !list.at_end()) texts.emplace_back(list.text());
  from.require(list.done());
  return texts;
}

void write_resources(codec::Buffer& out, const Resources& resources) {
  // Without a queue it has the bytes that it had before there were any.
  codec::write_list_head(out, resources.queue.empty() ? 6 : 7);
  codec::write_nat(out, resources.cpu_milli);
  codec::write_nat(out, resources.memory_bytes);
  if (resources.gpu) {
    codec::write_list_head(out, 3);
    codec::write_text(out, resources.gpu->type);
    codec::write_nat(out, resources.gpu->count);
    codec::write_nat(out, resources.gpu->memory_bytes);
  } else {
    codec::write_null(out);
  }
  codec::write_list_head(out, resources.labels.size() * 2);
  for (const auto& [key, value] : resources.labels) {
    codec::write_text(out, key);
    codec::write_text(out, value);
  }
  codec::write_text(out, resources.recipe);
  codec::write_nat(out, resources.estimated_load);
  if (!resources.queue.empty()) codec::write_text(out, resources.queue);
}

Resources read_resources_list(ListReader& from) {
  ListReader list(from.next());
  Resources resources;
  resources.cpu_milli = list.nat();
  resources.memory_bytes = list.nat();
  if (const View gpu = list.next(); !gpu.is_null()) {
    ListReader parts(gpu);
    Gpu& read = resources.gpu.emplace();
    read.type = parts.text();
    read.count = parts.nat32();
    read.memory_bytes = parts.nat();
    list.require(parts.done() && read.count > 0);
  }
  ListReader labels(list.next());
  while (labels.good() && !labels.at_end()) {
    std::string key(labels.text());
    resources.labels.emplace_back(std::move(key), labels.text());
  }
  list.require(labels.done() && std::is_sorted(resources.labels.begin(), resources.labels.end()));
  resources.recipe = list.text();
  resources.estimated_load = list.nat();
  if (list.good() && !list.at_end()) {
    resources.queue = list.text();
    list.require(!label_problem(resources.queue) && resources.queue != kDefaultQueue);
  }
  from.require(list.done());
  return resources;
}

void write_policy(codec::Buffer& out, const Policy& policy) {
  codec::write_list_head(out, 8);
  codec::write_int(out, policy.priority);
  if (policy.concurrency) {
    codec::write_list_head(out, 2);
    codec::write_text(out, policy.concurrency->key);
    codec::write_nat(out, policy.concurrency->limit);
  } else {
    codec::write_null(out);
  }
  if (policy.max_attempts) {
    codec::write_nat(out, *policy.max_attempts);
  } else {
    codec::write_null(out);
  }
  codec::write_nat(out, policy.timeout_ns);
  codec::write_nat(out, policy.queue_timeout_ns);
  codec::write_nat(out, static_cast<std::uint64_t>(policy.effects));
  codec::write_bool(out, policy.replayable);
  codec::write_bool(out, policy.preemptible);
}

Policy read_policy_list(ListReader& from) {
  ListReader list(from.next());
  Policy policy;
  const auto priority = list.next().integer();
  list.require(priority && *priority >= std::numeric_limits<std::int32_t>::min() &&
               *priority <= std::numeric_limits<std::int32_t>::max());
  policy.priority = static_cast<std::int32_t>(priority.value_or(0));
  if (const View concurrency = list.next(); !concurrency.is_null()) {
    ListReader parts(concurrency);
    Concurrency& read = policy.concurrency.emplace();
    read.key = parts.text();
    read.limit = parts.nat32();
    list.require(parts.done() && read.limit > 0);
  }
  const auto attempts = list.optional_nat();
  list.require(!attempts ||
               (*attempts > 0 && *attempts <= std::numeric_limits<std::uint32_t>::max()));
  policy.max_attempts.reset();
  if (attempts) policy.max_attempts = static_cast<std::uint32_t>(*attempts);
  policy.timeout_ns = list.nat();
  policy.queue_timeout_ns = list.nat();
  policy.effects = list.choice(Effects::kExternal);
  policy.replayable = list.boolean();
  policy.preemptible = list.boolean();
  from.require(list.done() && policy.timeout_ns <= kMaxDurationNs &&
               policy.queue_timeout_ns <= kMaxDurationNs);
  return policy;
}

void write_condition(codec::Buffer& out, const std::optional<Condition>& condition) {
  if (!condition) return codec::write_null(out);
  codec::write_list_head(out, 3);
  codec::write_text(out, condition->node);
  codec::write_text(out, condition->field);
  codec::write_text(out, condition->equals);
}

std::optional<Condition> read_condition_list(ListReader& from) {
  const View value = from.next();
  if (value.is_null()) return std::nullopt;
  ListReader list(value);
  Condition condition;
  condition.node = list.text();
  condition.field = list.text();
  condition.equals = list.text();
  from.require(list.done());
  return condition;
}

void write_inputs(codec::Buffer& out, const std::vector<Input>& inputs) {
  codec::write_list_head(out, inputs.size());
  for (const Input& input : inputs) {
    codec::write_list_head(out, 4);
    codec::write_text(out, input.node);
    codec::write_nat(out, input.tasks.first);
    codec::write_nat(out, input.tasks.count);
    codec::write_bool(out, input.is_foreach);
  }
}

std::vector<Input> read_inputs(ListReader& from) {
  ListReader list(from.next());
  std::vector<Input> inputs;
  while (list.good() && !list.at_end()) {
    ListReader parts(list.next());
    Input& input = inputs.emplace_back();
    input.node = parts.text();
    input.tasks.first = parts.nat32();
    input.tasks.count = parts.nat32();
    input.is_foreach = parts.boolean();
    const std::uint64_t end = std::uint64_t{input.tasks.first} + input.tasks.count;
    list.require(parts.done() && input.tasks.count > 0 &&
                 end <= std::numeric_limits<TaskIndex>::max() &&
                 (input.is_foreach || input.tasks.count == 1));
    list.require(inputs.size() <= kMaxInputs);
  }
  from.require(list.done());
  return inputs;
}

void write_element(codec::Buffer& out, const std::optional<Element>& element) {
  if (!element) return codec::write_null(out);
  codec::write_list_head(out, 2);
  codec::write_nat(out, element->index);
  out.append(element->item);
}

std::optional<Element> read_element(ListReader& from) {
  const View value = from.next();
  if (value.is_null()) return std::nullopt;
  ListReader list(value);
  Element element;
  element.index = list.nat32();
  const base::ByteView item = list.next().encoded();
  element.item.assign(item.begin(), item.end());
  from.require(list.done() && depth_of(View::of(element.item)) <= kMaxSpecDepth);
  return element;
}

// What holds for every definition of a plan, and what those who use it rely on.
bool is_sound(const TaskDefinition& task) {
  const bool is_join = task.kind != TaskKind::kRun;
  const auto is_before = [&](const TaskRange& range) { return range.end() <= task.index; };
  const auto is_after = [&](const TaskRange& range) { return range.first > task.index; };
  return std::all_of(task.dependencies.begin(), task.dependencies.end(), is_before) &&
         std::all_of(task.dependents.begin(), task.dependents.end(), is_after) &&
         std::all_of(task.inputs.begin(), task.inputs.end(),
                     [&](const Input& input) { return is_before(input.tasks); }) &&
         !task.name.empty() && task.type.empty() == is_join &&
         (!is_join || !task.dependencies.empty()) &&
         (task.kind != TaskKind::kGate || task.epoch.has_value());
}

}  // namespace

void write_task(codec::Buffer& out, const TaskDefinition& task) {
  codec::write_list_head(out, 15);
  codec::write_nat(out, task.index);
  codec::write_nat(out, static_cast<std::uint64_t>(task.kind));
  codec::write_text(out, task.name);
  codec::write_text(out, task.type);
  out.append(task.spec);
  write_ranges(out, task.dependencies);
  write_ranges(out, task.dependents);
  if (task.epoch) {
    codec::write_nat(out, *task.epoch);
  } else {
    codec::write_null(out);
  }
  codec::write_nat(out, task.position);
  write_texts(out, task.workers);
  write_resources(out, task.resources);
  write_policy(out, task.policy);
  write_condition(out, task.condition);
  write_inputs(out, task.inputs);
  write_element(out, task.element);
}

base::Result<TaskDefinition> read_task(View value) {
  ListReader list(value);
  TaskDefinition task;
  task.index = list.nat32();
  task.kind = list.choice(TaskKind::kGate);
  task.name = list.text();
  task.type = list.text();
  const View spec = list.next();
  list.require(spec.kind() == codec::ViewKind::kMap && spec.encoded().size() <= kMaxSpecBytes &&
               depth_of(spec) <= kMaxSpecDepth);
  task.spec.assign(spec.encoded().begin(), spec.encoded().end());
  task.dependencies = read_ranges(list);
  task.dependents = read_ranges(list);
  const auto epoch = list.optional_nat();
  list.require(!epoch || *epoch <= std::numeric_limits<std::uint32_t>::max());
  if (epoch) task.epoch = static_cast<std::uint32_t>(*epoch);
  task.position = list.nat32();
  task.workers = read_texts(list);
  task.resources = read_resources_list(list);
  task.policy = read_policy_list(list);
  task.condition = read_condition_list(list);
  task.inputs = read_inputs(list);
  task.element = read_element(list);
  if (!list.done() || !is_sound(task))
    return base::invalid("", "this is not the definition of a task");
  return task;
}

}  // namespace holdfast::tasks
