// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_parts.h"

#include <algorithm>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"
#include "tasks/task_codec.h"

namespace holdfast::tasks {
namespace {

using codec::View;

constexpr std::uint64_t kGraphVersion = 1;

// A number of a task and the heads of two lists.
constexpr std::size_t kAdoptedOverheadBytes = 8;

// The results that tasks begin with, by place in the part.
bool read_adopted(View value, std::vector<PartTask>& tasks) {
  kernel::ListReader list(value);
  std::uint64_t next = 0;
  while (list.good() && !list.at_end()) {
    kernel::ListReader pair(list.next());
    const std::uint64_t place = pair.nat();
    const View result = pair.next();
    if (!pair.done() || place < next || place >= tasks.size()) return false;
    if (tasks[place].task.kind != TaskKind::kRun || result.encoded().size() > kMaxResultBytes)
      return false;
    tasks[place].adopted = result.encoded();
    next = place + 1;
  }
  return list.done();
}

}  // namespace

// Chained, so that the digest does not depend on where parts are cut.
base::Hash digest_with(const base::Hash& before, base::ByteView definition) {
  return base::sha256(before.bytes, definition);
}

GraphHeader header_of(const Plan& plan) {
  GraphHeader header;
  header.name = plan.name;
  header.owner = plan.owner;
  header.kind = plan.kind;
  header.annotations = plan.annotations;
  header.run_count = plan.run_count;
  header.total_count = plan.total_count;
  header.epoch_count = plan.epoch_count;
  header.is_ordered = plan.is_ordered;
  codec::Buffer definition;
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    const TaskDefinition task = plan.task(index);
    definition.clear();
    write_task(definition, task);
    header.digest = digest_with(header.digest, definition.view());
    if (task.dependencies.empty()) header.told_start = index + 1;
  }
  return header;
}

void write_header(codec::Buffer& out, const GraphHeader& header) {
  codec::write_list_head(out, 12);
  codec::write_nat(out, kGraphVersion);
  codec::write_text(out, header.name);
  codec::write_text(out, header.owner);
  codec::write_text(out, header.kind);
  out.append(header.annotations);
  codec::write_nat(out, header.run_count);
  codec::write_nat(out, header.total_count);
  codec::write_nat(out, header.epoch_count);
  codec::write_bool(out, header.is_ordered);
  codec::write_nat(out, header.told_start);
  codec::write_text(out, header.rerun_of);
  codec::write_text(out, header.digest.to_text());
}

base::Result<GraphHeader> read_header(View value) {
  kernel::ListReader list(value);
  list.require(list.nat() == kGraphVersion);
  GraphHeader header;
  header.name = list.text();
  header.owner = list.text();
  header.kind = list.text();
  const View annotations = list.next();
  list.require(annotations.kind() == codec::ViewKind::kMap &&
               annotations.encoded().size() <= kMaxAnnotationsBytes);
  header.annotations.assign(annotations.encoded().begin(), annotations.encoded().end());
  header.run_count = list.nat32();
  header.total_count = list.nat32();
  header.epoch_count = list.nat32();
  header.is_ordered = list.boolean();
  header.told_start = list.nat32();
  header.rerun_of = list.text();
  list.require(std::max({header.name.size(), header.owner.size(), header.kind.size(),
                         header.rerun_of.size()}) <= kMaxShortTextBytes);
  const auto digest = base::Hash::parse(list.text());
  const bool are_counts_good = header.run_count > 0 && header.run_count <= header.total_count &&
                               header.told_start > 0 && header.told_start <= header.total_count;
  if (!digest || !list.done() || !are_counts_good)
    return base::invalid("", "this is not the header of a task graph");
  header.digest = *digest;
  return header;
}

bool PartWriter::add(base::ByteView definition, base::ByteView adopted) {
  const std::size_t more = definition.size() + adopted.size() + kAdoptedOverheadBytes;
  const std::size_t size = definitions_.size() + adopted_.size() + more + kPartOverheadBytes;
  if (count_ == kMaxPartTasks || (count_ > 0 && size > kMaxPartBytes)) return false;
  if (!adopted.empty()) {
    codec::write_list_head(adopted_, 2);
    codec::write_nat(adopted_, count_);
    adopted_.append(adopted);
    ++adopted_count_;
  }
  definitions_.append(definition);
  ++count_;
  return true;
}

base::Bytes PartWriter::take() {
  codec::Buffer out;
  codec::write_list_head(out, 4);
  codec::write_nat(out, kGraphVersion);
  codec::write_nat(out, first_);
  codec::write_list_head(out, count_);
  out.append(definitions_.view());
  codec::write_list_head(out, adopted_count_);
  out.append(adopted_.view());
  first_ += static_cast<TaskIndex>(count_);
  count_ = adopted_count_ = 0;
  definitions_.clear();
  adopted_.clear();
  return out.to_bytes();
}

base::Bytes part_from(const Plan& plan, TaskIndex& next) {
  PartWriter writer(next);
  codec::Buffer definition;
  for (; next < plan.total_count; ++next) {
    definition.clear();
    write_task(definition, plan.task(next));
    CHECK(definition.size() <= kMaxTaskBytes);  // the compiler has seen to it
    if (!writer.add(definition.view())) break;
  }
  return writer.take();
}

base::Result<std::vector<PartTask>> read_part(View part) {
  kernel::ListReader list(part);
  list.require(list.nat() == kGraphVersion);
  const TaskIndex first = list.nat32();
  const View definitions = list.next();
  const View adopted = list.next();
  if (!list.done() || definitions.kind() != codec::ViewKind::kList || definitions.size() == 0 ||
      definitions.size() > kMaxPartTasks || part.encoded().size() > kMaxPartBytes)
    return base::invalid("", "this is not a part of a task graph");
  std::vector<PartTask> tasks;
  tasks.reserve(definitions.size());
  for (const View definition : definitions.elements()) {
    const std::uint64_t number = std::uint64_t{first} + tasks.size();
    const std::string place = "task " + std::to_string(number);
    auto task = read_task(definition);
    if (!task) return std::move(task).error().within(place);
    if (task->index != number)
      return base::invalid(place, "the task has the number " + std::to_string(task->index));
    const base::ByteView bytes = definition.encoded();
    if (bytes.size() > kMaxTaskBytes)
      return base::Error(
          base::ErrorCode::kTooLarge, place,
          "the definition has more than " + std::to_string(kMaxTaskBytes) + " bytes");
    tasks.push_back({std::move(*task), bytes, {}});
  }
  if (!read_adopted(adopted, tasks))
    return base::invalid("", "the adopted results are not those of this part");
  return tasks;
}

base::Result<std::vector<PartTask>> GraphIntake::add(View part, const GraphHeader& header) {
  std::vector<PartTask> tasks = TRY(read_part(part));
  if (tasks.front().task.index != next_) {
    return base::Error(base::ErrorCode::kConflict,
                       "the part begins with task " + std::to_string(tasks.front().task.index) +
                           "; task " + std::to_string(next_) + " comes next");
  }
  base::Hash digest = digest_;
  for (const PartTask& each : tasks) {
    const TaskDefinition& task = each.task;
    const std::string place = "task " + std::to_string(task.index);
    if (task.dependencies.empty() && task.index >= header.told_start)
      return base::invalid(place, "nothing would start the task");
    const TaskIndex end = task.dependents.empty() ? task.index + 1 : task.dependents.back().end();
    if (end > header.total_count)
      return base::invalid(place,
                           "the graph has only " + std::to_string(header.total_count) + " tasks");
    digest = digest_with(digest, each.definition);
  }
  digest_ = digest;
  next_ += static_cast<TaskIndex>(tasks.size());
  return tasks;
}

base::Result<void> GraphIntake::seal(const GraphHeader& header) const {
  if (next_ != header.total_count) {
    return base::Error(base::ErrorCode::kConflict, std::to_string(next_) + " of " +
                                                       std::to_string(header.total_count) +
                                                       " tasks have come in");
  }
  if (digest_ != header.digest)
    return base::Error(base::ErrorCode::kConflict, "the tasks are not those of the header");
  return {};
}

}  // namespace holdfast::tasks
