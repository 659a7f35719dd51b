// SPDX-License-Identifier: Apache-2.0
#include "tasks/task_cell.h"

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::tasks {
namespace {

using codec::View;
using kernel::ListReader;

constexpr std::uint64_t kTaskCellVersion = 1;

std::optional<TaskError> read_error(View value, ListReader& from) {
  if (value.is_null()) return std::nullopt;
  ListReader list(value);
  TaskError error;
  error.code = list.text();
  error.message = list.text();
  error.worker = list.text();
  from.require(list.done());
  return error;
}

std::optional<EndedWith> read_ended_with(View value, ListReader& from) {
  if (value.is_null()) return std::nullopt;
  ListReader list(value);
  EndedWith ended;
  ended.why = list.choice(Ending::kGraph);
  ended.origin = list.nat32();
  ended.name = list.text();
  from.require(list.done());
  return ended;
}

}  // namespace

TaskState state_of(TaskPhase phase) noexcept {
  CHECK(has_ended(phase));
  if (phase == TaskPhase::kDone) return TaskState::kDone;
  return phase == TaskPhase::kFailed ? TaskState::kFailed : TaskState::kCancelled;
}

void write_cell(codec::Buffer& out, const TaskCell& cell) {
  codec::write_list_head(out, 13);
  codec::write_nat(out, kTaskCellVersion);
  codec::write_nat(out, static_cast<std::uint64_t>(cell.phase));
  codec::write_nat(out, cell.waiting);
  codec::write_nat(out, cell.attempts);
  codec::write_nat(out, cell.told);
  codec::write_bool(out, cell.is_skipped);
  codec::write_bool(out, cell.tells_nobody);
  codec::write_list_head(out, 3);
  codec::write_nat(out, cell.created_ns);
  codec::write_nat(out, cell.ready_ns);
  codec::write_nat(out, cell.ended_ns);
  if (cell.error) {
    codec::write_list_head(out, 3);
    codec::write_text(out, cell.error->code);
    codec::write_text(out, cell.error->message);
    codec::write_text(out, cell.error->worker);
  } else {
    codec::write_null(out);
  }
  codec::write_list_head(out, cell.avoid.size());
  for (const std::string& worker : cell.avoid) codec::write_text(out, worker);
  if (cell.ended_with) {
    codec::write_list_head(out, 3);
    codec::write_nat(out, static_cast<std::uint64_t>(cell.ended_with->why));
    codec::write_nat(out, cell.ended_with->origin);
    codec::write_text(out, cell.ended_with->name);
  } else {
    codec::write_null(out);
  }
  out.append(cell.definition);
  codec::write_list_head(out, cell.result.empty() ? 0 : 1);
  out.append(cell.result);
}

std::optional<TaskCell> read_task_cell(View value) {
  ListReader list(value);
  list.require(list.nat() == kTaskCellVersion);
  TaskCell cell;
  cell.phase = list.choice(TaskPhase::kCancelled);
  cell.waiting = list.nat();
  cell.attempts = list.nat32();
  cell.told = list.nat32();
  cell.is_skipped = list.boolean();
  cell.tells_nobody = list.boolean();
  ListReader times(list.next());
  cell.created_ns = times.nat();
  cell.ready_ns = times.nat();
  cell.ended_ns = times.nat();
  list.require(times.done());
  cell.error = read_error(list.next(), list);
  ListReader avoid(list.next());
  while (avoid.good() && !avoid.at_end()) cell.avoid.emplace_back(avoid.text());
  list.require(avoid.done());
  cell.ended_with = read_ended_with(list.next(), list);
  const View definition = list.next();
  list.require(definition.kind() == codec::ViewKind::kList);
  cell.definition = definition.encoded();
  ListReader result(list.next());
  if (result.good() && !result.at_end()) cell.result = result.next().encoded();
  list.require(result.done());
  if (!list.done()) return std::nullopt;
  return cell;
}

}  // namespace holdfast::tasks
