// SPDX-License-Identifier: Apache-2.0
#include "tasks/task_machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/mail.h"
#include "kernel/work.h"
#include "tasks/limits.h"
#include "tasks/messages.h"
#include "tasks/render.h"
#include "tasks/run_params.h"
#include "tasks/task_cell.h"
#include "tasks/task_codec.h"

namespace holdfast::tasks {
namespace {

using codec::View;
using kernel::MailKind;
using kernel::ReceiptStatus;

// One turn of one task.
class TaskTurn {
 public:
  TaskTurn(const kernel::StepInput& input, kernel::StepOutput& output, const TaskName& name,
           TaskCell cell)
      : input_(input), output_(output), name_(name), cell_(std::move(cell)) {}

  void take() {
    const kernel::Mail& mail = input_.mail;
    if (mail.kind == MailKind::kReceipt || mail.kind == MailKind::kRejected) {
      take_answer(mail);
    } else if (mail.schema == kTaskContinued) {
      if (has_ended(cell_.phase)) return tell();
    } else if (mail.schema == kTaskDiscarded) {
      return output_.remove();
    } else if (!has_ended(cell_.phase)) {
      if (mail.schema == kTaskDependencyEnded) take_dependency(read_dependency_ended(mail.value));
      if (mail.schema == kTaskCancelAsked) take_cancel(View::of(mail.value));
    }
    if (!is_over_) keep();
  }

 private:
  std::string key() const { return task_key(name_.graph, name_.number); }
  std::uint64_t now_ns() const { return input_.context.time_ns(); }

  // The graph has checked it before the task was created.
  const TaskDefinition& task() {
    if (!task_) {
      auto read = read_task(View::of(cell_.definition));
      CHECK(read);
      task_ = std::move(*read);
    }
    return *task_;
  }

  void keep() {
    output_.begin_state();
    write_cell(output_.bytes(), cell_);
    is_over_ = true;
  }

  void take_dependency(const DependencyEnded& ended) {
    if (cell_.phase != TaskPhase::kWaiting) return;
    if (ended.state == TaskState::kDone) {
      if (cell_.waiting > 0 && --cell_.waiting == 0) become_ready();
      return;
    }
    const Ending why = ended.is_epoch ? Ending::kEarlierEpoch : Ending::kDependency;
    cell_.ended_with = EndedWith{why, ended.origin, std::string(ended.name)};
    finish(ended.state == TaskState::kCancelled ? TaskPhase::kCancelled : TaskPhase::kFailed);
  }

  void become_ready() {
    cell_.ready_ns = now_ns();
    if (task().kind != TaskKind::kRun) {
      const std::uint8_t null[] = {codec::kNullByte};
      cell_.result = keep_bytes(null);
      return finish(TaskPhase::kDone);
    }
    if (!cell_.result.empty()) {  // adopted
      cell_.is_skipped = is_skipped_result(cell_.result);
      return finish(TaskPhase::kDone);
    }
    if (!task().condition) return open_run();
    cell_.phase = TaskPhase::kChecking;
    output_.begin_effect(defs::kTaskCheck, {}, kCheckReference);
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 2);
    codec::write_text(out, "task");
    out.append(cell_.definition);
    codec::write_text(out, "graph");
    codec::write_text(out, name_.graph);
  }

  void open_run() {
    cell_.phase = TaskPhase::kRunning;
    output_.begin_effect(defs::kTaskRun, {}, kRunReference);
    write_run_params(output_.bytes(), {task(), cell_.definition, name_.graph, name_.number,
                                       std::uint64_t{cell_.attempts} + 1, cell_.avoid});
  }

  void take_cancel(View event) {
    const auto with_graph = event.find("graph");
    if (with_graph && with_graph->boolean().value_or(false)) cell_.tells_nobody = true;
    const auto reason = event.find("reason");
    cell_.error = TaskError{"task.cancelled", cut(reason ? reason->text().value_or("") : ""), {}};
    switch (cell_.phase) {
      case TaskPhase::kWaiting: return finish(TaskPhase::kCancelled);
      case TaskPhase::kChecking: output_.stop_effects(kCheckReference); break;
      case TaskPhase::kRunning: output_.ask_to_stop(kRunReference); break;
      default: return;
    }
    cell_.phase = TaskPhase::kStopping;
  }

  void take_answer(const kernel::Mail& mail) {
    switch (cell_.phase) {
      case TaskPhase::kStopping: return finish(TaskPhase::kCancelled);
      case TaskPhase::kChecking:
        if (mail.origin.issuer_ref == kCheckReference) take_check(mail);
        return;
      case TaskPhase::kRunning:
        if (mail.origin.issuer_ref == kRunReference) take_run(mail);
        return;
      default: return;
    }
  }

  void take_check(const kernel::Mail& mail) {
    if (mail.kind != MailKind::kReceipt || mail.status != ReceiptStatus::kOk) {
      set_error(mail);
      return finish(TaskPhase::kFailed);
    }
    const auto holds = View::of(mail.value).find("holds");
    if (holds && holds->boolean().value_or(false)) return open_run();
    cell_.is_skipped = true;
    cell_.result = keep_bytes(skipped_result());
    finish(TaskPhase::kDone);
  }

  void take_run(const kernel::Mail& mail) {
    if (mail.kind == MailKind::kReceipt && mail.status == ReceiptStatus::kOk) {
      const auto result = View::of(mail.value).find("result");
      const base::ByteView bytes = result ? result->encoded() : base::ByteView();
      if (!bytes.empty() && bytes.size() <= kMaxResultBytes) {
        spend(mail, 1);
        cell_.error.reset();
        cell_.result = bytes;
        return finish(TaskPhase::kDone);
      }
      cell_.error = TaskError{std::string(kResultTooLarge),
                              "the result has " + std::to_string(bytes.size()) +
                                  " bytes; a task may return " + std::to_string(kMaxResultBytes),
                              mail.origin.worker};
      spend(mail, 1);
      return finish(TaskPhase::kFailed);
    }
    if (mail.kind == MailKind::kReceipt && mail.status == ReceiptStatus::kCancelled) {
      set_error(mail);
      spend(mail, 0);
      return finish(TaskPhase::kCancelled);
    }
    const bool is_given_up = was_given_up(mail);
    // What an executor said of it is worth more than that no other worker is left.
    if (!is_given_up || !cell_.error) set_error(mail);
    // Nobody took it; or the last worker that had it is among those that were lost.
    const bool was_not_run = is_given_up || cell_.error->code == kernel::kQueueTimeout ||
                             cell_.error->code == kernel::kWorkerLost;
    spend(mail, was_not_run ? 0 : 1);
    const auto most = task().policy.max_attempts;
    const bool may_retry = mail.kind == MailKind::kReceipt && !was_not_run &&
                           (mail.status == ReceiptStatus::kTimeout || is_retryable(mail)) &&
                           (!most || cell_.attempts < *most);
    if (!may_retry) return finish(TaskPhase::kFailed);
    avoid(mail.origin.worker);
    open_run();
  }

  // Executions that count: those that were reported, and those whose worker was lost.
  void spend(const kernel::Mail& mail, std::uint32_t reported) {
    const std::uint64_t all = cell_.attempts + mail.origin.losses + reported;
    cell_.attempts = static_cast<std::uint32_t>(std::min<std::uint64_t>(all, UINT32_MAX));
  }

  // Of many that failed it, the last ones.
  void avoid(const std::string& worker) {
    if (worker.empty()) return;
    std::erase(cell_.avoid, worker);
    if (cell_.avoid.size() == kMaxAvoided) cell_.avoid.erase(cell_.avoid.begin());
    cell_.avoid.push_back(worker);
  }

  static bool is_retryable(const kernel::Mail& mail) {
    const auto retryable = View::of(mail.value).find("retryable");
    return !retryable || retryable->boolean().value_or(true);
  }

  // Records of before this rule have no such details.
  static bool was_given_up(const kernel::Mail& mail) {
    if (mail.kind != MailKind::kReceipt || !mail.origin.worker.empty()) return false;
    const auto details = View::of(mail.value).find("details");
    const auto given_up = details ? details->find(kGivenUp) : std::nullopt;
    return given_up && given_up->boolean().value_or(false);
  }

  void set_error(const kernel::Mail& mail) {
    TaskError error;
    error.worker = mail.origin.worker;
    if (mail.kind == MailKind::kRejected) {
      error.code = mail.fault();
      error.message = cut(mail.note);
    } else {
      const View value = View::of(mail.value);
      const auto code = value.find("code");
      const auto message = value.find("message");
      error.code = cut(code ? code->text().value_or("") : "");
      error.message = cut(message ? message->text().value_or("") : "");
    }
    cell_.error = std::move(error);
  }

  // At the end of a character.
  static std::string cut(std::string_view text) {
    if (text.size() <= kMaxErrorBytes) return std::string(text);
    std::size_t end = kMaxErrorBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return std::string(text.substr(0, end));
  }

  base::ByteView keep_bytes(base::ByteView bytes) {
    kept_.assign(bytes.begin(), bytes.end());
    return kept_;
  }

  static bool is_skipped_result(base::ByteView result) {
    return base::equal(result, skipped_result());
  }

  void finish(TaskPhase phase) {
    cell_.phase = phase;
    cell_.ended_ns = now_ns();
    tell();
  }

  // The next dependents; when all have heard of it, the graph, and that is the end.
  void tell() {
    const std::uint32_t last = tell_dependents();
    if (last < dependent_count()) {
      cell_.told = last;
      keep();
      output_.begin_event(kTaskContinued);
      return write_key_only(output_.bytes(), key());
    }
    cell_.told = last;
    tell_graph();
    end();
  }

  std::uint32_t dependent_count() {
    if (cell_.tells_nobody) return 0;
    return static_cast<std::uint32_t>(task_count(task().dependents));
  }

  std::uint32_t tell_dependents() {
    if (dependent_count() == 0) return 0;
    DependencyEnded ended{state_of(cell_.phase), task().kind == TaskKind::kGate, name_.number,
                          task().name};
    if (cell_.ended_with) {
      ended.origin = cell_.ended_with->origin;
      ended.name = cell_.ended_with->name;
    }
    std::uint32_t place = 0;  // of a dependent among all
    const std::uint32_t begin = cell_.told;
    const std::uint32_t end = begin + kToldPerTurn;
    for (const TaskRange& range : task().dependents) {
      if (place >= end) break;
      const std::uint32_t from = std::max(begin, place);
      const std::uint32_t to = std::min(end, place + range.count);
      for (std::uint32_t i = from; i < to; ++i) {
        output_.begin_event(kTaskDependencyEnded);
        write_dependency_ended(output_.bytes(), task_key(name_.graph, range.first + (i - place)),
                               ended);
      }
      place += range.count;
    }
    return std::min(end, dependent_count());
  }

  void tell_graph() {
    TaskEndedMessage ended{name_.number,     task().kind,  state_of(cell_.phase),
                           cell_.is_skipped, std::nullopt, std::nullopt};
    if (task().kind == TaskKind::kGate) ended.epoch = task().epoch;
    if (cell_.phase == TaskPhase::kFailed && !cell_.ended_with && cell_.error)
      ended.error = task().name + ": " + cell_.error->message;
    output_.begin_event(kGraphTaskEnded);
    write_task_ended(output_.bytes(), name_.graph, ended);
  }

  void end() {
    const base::ByteView result = std::exchange(cell_.result, {});
    keep();
    switch (cell_.phase) {
      case TaskPhase::kDone:
        output_.begin_result();
        output_.bytes().append(result);
        return;
      case TaskPhase::kFailed: return fail();
      default: return output_.cancel();
    }
  }

  void fail() {
    if (!cell_.ended_with) return output_.fail(cell_.error->code, cell_.error->message);
    const bool is_epoch = cell_.ended_with->why == Ending::kEarlierEpoch;
    output_.fail(std::string(is_epoch ? kEpochFailed : kDependencyFailed),
                 "'" + cell_.ended_with->name + "' failed" +
                     (is_epoch ? " in an earlier epoch" : ", which this task depends on"));
  }

  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  TaskName name_;
  TaskCell cell_;
  std::optional<TaskDefinition> task_;
  base::Bytes kept_;
  bool is_over_ = false;  // the state was written
};

TaskCell created(const kernel::StepInput& input) {
  const View event = View::of(input.mail.value);
  TaskCell cell;
  cell.created_ns = input.context.time_ns();
  cell.waiting = event.find("waits")->nat().value_or(0);
  cell.definition = event.find("definition")->encoded();
  for (const View adopted : event.find("adopted")->elements()) cell.result = adopted.encoded();
  return cell;
}

}  // namespace

base::Bytes given_up_details() {
  codec::Buffer out;
  codec::write_map_head(out, 1);
  codec::write_text(out, kGivenUp);
  codec::write_bool(out, true);
  return out.to_bytes();
}

void TaskMachine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  const auto key = View::of(input.context.key()).text();
  const auto name = parse_task_key(key.value_or(""));
  if (!name) return output.remove();
  if (!input.state) {
    // A message to a task that is not there leaves nothing.
    if (input.mail.kind != MailKind::kEvent || input.mail.schema != kTaskCreated)
      return output.remove();
    output.begin_state();
    return write_cell(output.bytes(), created(input));
  }
  auto cell = read_task_cell(View::of(*input.state));
  if (!cell) return output.fail("task.bad_state", "the state is not that of a task");
  TaskTurn(input, output, *name, std::move(*cell)).take();
}

}  // namespace holdfast::tasks
