// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_parts.h"

#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "kernel/list_reader.h"
#include "tasks/task_codec.h"

namespace holdfast::tasks {
namespace {

using codec::View;

constexpr std::uint64_t kGraphVersion = 1;

// Each definition is hashed behind the hash of those before it, so that the digest does not depend
// on where parts were cut.
base::Hash chained(const base::Hash& before, base::ByteView definition) {
  return base::sha256(before.bytes, definition);
}

void begin_value(codec::Buffer& out) {
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
}

base::Result<base::Bytes> checked(base::ByteView bytes) {
  codec::Normaliser normaliser;
  const auto value =
      TRY(normaliser.from_cbor(codec::Schema::any(), bytes, codec::Strictness::kStrict));
  return base::Bytes(value.begin(), value.end());
}

base::Bytes part_of(TaskIndex first, std::uint64_t count, const codec::Buffer& definitions) {
  codec::Buffer out;
  begin_value(out);
  codec::write_list_head(out, 3);
  codec::write_nat(out, kGraphVersion);
  codec::write_nat(out, first);
  codec::write_list_head(out, count);
  out.append(definitions.view());
  return out.to_bytes();
}

}  // namespace

GraphHeader header_of(const Plan& plan) {
  GraphHeader header{plan.name,        plan.owner,      plan.kind,
                     plan.annotations, plan.run_count,  plan.total_count,
                     plan.epoch_count, plan.is_ordered, base::Hash()};
  codec::Buffer definition;
  for (TaskIndex task = 0; task < plan.total_count; ++task) {
    definition.clear();
    write_task(definition, plan.task(task));
    header.digest = chained(header.digest, definition.view());
  }
  return header;
}

base::Bytes encode(const GraphHeader& header) {
  codec::Buffer out;
  begin_value(out);
  codec::write_list_head(out, 10);
  codec::write_nat(out, kGraphVersion);
  codec::write_text(out, header.name);
  codec::write_text(out, header.owner);
  codec::write_text(out, header.kind);
  out.append(header.annotations);
  codec::write_nat(out, header.run_count);
  codec::write_nat(out, header.total_count);
  codec::write_nat(out, header.epoch_count);
  codec::write_bool(out, header.is_ordered);
  codec::write_text(out, header.digest.to_text());
  return out.to_bytes();
}

base::Result<GraphHeader> decode_header(base::ByteView bytes) {
  const base::Bytes value = TRY(checked(bytes));
  kernel::ListReader list(View::of(value));
  list.require(list.nat() == kGraphVersion);
  GraphHeader header;
  header.name = list.text();
  header.owner = list.text();
  header.kind = list.text();
  const View annotations = list.next();
  list.require(annotations.kind() == codec::ViewKind::kMap);
  header.annotations.assign(annotations.encoded().begin(), annotations.encoded().end());
  header.run_count = list.nat32();
  header.total_count = list.nat32();
  header.epoch_count = list.nat32();
  header.is_ordered = list.boolean();
  const auto digest = base::Hash::parse(list.text());
  if (!digest || !list.done() || header.run_count == 0 || header.run_count > header.total_count)
    return base::invalid("", "this is not the header of a task graph");
  header.digest = *digest;
  return header;
}

std::vector<base::Bytes> split(const Plan& plan, std::size_t part_bytes) {
  CHECK(part_bytes >= kMaxTaskBytes + kPartOverheadBytes && part_bytes <= kMaxPartBytes);
  std::vector<base::Bytes> parts;
  codec::Buffer definitions;
  codec::Buffer one;
  TaskIndex first = 0;
  for (TaskIndex task = 0; task < plan.total_count; ++task) {
    one.clear();
    write_task(one, plan.task(task));
    CHECK(one.size() <= kMaxTaskBytes);  // the compiler has seen to it
    if (definitions.size() + one.size() + kPartOverheadBytes > part_bytes) {
      parts.push_back(part_of(first, task - first, definitions));
      definitions.clear();
      first = task;
    }
    definitions.append(one.view());
  }
  parts.push_back(part_of(first, plan.total_count - first, definitions));
  return parts;
}

base::Result<std::vector<TaskDefinition>> decode_part(base::ByteView bytes) {
  const base::Bytes value = TRY(checked(bytes));
  kernel::ListReader list(View::of(value));
  list.require(list.nat() == kGraphVersion);
  const TaskIndex first = list.nat32();
  const View definitions = list.next();
  if (!list.done() || definitions.kind() != codec::ViewKind::kList || definitions.size() == 0)
    return base::invalid("", "this is not a part of a task graph");
  std::vector<TaskDefinition> tasks;
  for (const View definition : definitions.elements()) {
    const std::string place = "task " + std::to_string(first + tasks.size());
    auto task = read_task(definition);
    if (!task) return std::move(task).error().within(place);
    if (task->index != first + tasks.size())
      return base::invalid(place, "the task has the number " + std::to_string(task->index));
    tasks.push_back(std::move(*task));
  }
  return tasks;
}

base::Result<std::vector<TaskDefinition>> GraphIntake::add(base::ByteView part) {
  std::vector<TaskDefinition> tasks = TRY(decode_part(part));
  if (tasks.front().index != next_) {
    return base::Error(base::ErrorCode::kConflict,
                       "the part begins with task " + std::to_string(tasks.front().index) +
                           "; task " + std::to_string(next_) + " comes next");
  }
  codec::Buffer definition;
  for (const TaskDefinition& task : tasks) {
    definition.clear();
    write_task(definition, task);
    digest_ = chained(digest_, definition.view());
  }
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
