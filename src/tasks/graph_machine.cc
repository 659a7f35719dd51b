// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_machine.h"

#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/mail.h"
#include "tasks/graph_cell.h"
#include "tasks/messages.h"

namespace holdfast::tasks {
namespace {

using codec::View;
using kernel::MailKind;

constexpr std::string_view kIntakeReference = "intake";

std::string_view text_in(View event, std::string_view field) {
  const auto value = event.find(field);
  return value ? value->text().value_or("") : "";
}

// One turn of one graph.
class GraphTurn {
 public:
  GraphTurn(const kernel::StepInput& input, kernel::StepOutput& output, std::string_view graph,
            GraphCell cell)
      : input_(input), output_(output), graph_(graph), cell_(std::move(cell)) {}

  void open(View event) {
    cell_.created_ns = input_.context.time_ns();
    for (const View part : event.find("parts")->elements()) take_part(part);
    if (event.find("sealed")->boolean().value_or(false)) seal();
    if (cell_.phase == GraphPhase::kIntake) set_timer();
    keep();
  }

  void take() {
    const kernel::Mail& mail = input_.mail;
    if (mail.kind == MailKind::kReceipt) {
      if (cell_.phase == GraphPhase::kIntake) discard();
    } else if (mail.schema == kGraphPart) {
      if (cell_.phase == GraphPhase::kIntake) take_part(*View::of(mail.value).find("part"));
    } else if (mail.schema == kGraphSealed) {
      if (cell_.phase == GraphPhase::kIntake) seal();
    } else if (mail.schema == kGraphCancelAsked) {
      cancel(View::of(mail.value));
    } else if (mail.schema == kGraphTaskEnded) {
      count(read_task_ended(mail.value));
    } else if (mail.schema == kGraphContinued) {
      tell();
    }
    if (!is_gone_) keep();
  }

 private:
  void set_timer() {
    output_.begin_effect(defs::kTimerSet, {}, kIntakeReference);
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 2);
    codec::write_text(out, "key");
    codec::write_null(out);
    codec::write_text(out, "deliver_at_ns");
    codec::write_nat(out, cell_.created_ns + kIntakeTimeoutNs);
  }

  void keep() {
    output_.begin_state();
    write_cell(output_.bytes(), cell_);
  }

  void take_part(View part) {
    const auto tasks = cell_.intake.add(part, cell_.header);
    if (!tasks) return;
    for (const PartTask& each : *tasks) {
      const bool hears_start = each.task.index < cell_.header.told_start;
      const std::uint64_t waits = task_count(each.task.dependencies) + (hears_start ? 1 : 0);
      output_.begin_event(kTaskCreated);
      write_created(output_.bytes(), graph_, each.task.index, waits, each.definition, each.adopted);
    }
  }

  void seal() {
    if (!cell_.intake.seal(cell_.header)) return;
    cell_.phase = GraphPhase::kRunning;
    cell_.sealed_ns = input_.context.time_ns();
    cell_.left = cell_.header.total_count;
    output_.stop_effects(kIntakeReference);
    cell_.told = 0;
    // A turn that has made tasks leaves it to the next one to tell them.
    if (output_.events().empty()) return tell();
    go_on();
  }

  void discard() {
    cell_.phase = GraphPhase::kDiscarding;
    cell_.told = 0;
    tell();
  }

  void cancel(View event) {
    if (cell_.phase == GraphPhase::kIntake) {
      output_.stop_effects(kIntakeReference);
      return discard();
    }
    if (cell_.phase != GraphPhase::kRunning || cell_.is_cancelling) return;
    cell_.is_cancelling = true;
    cell_.cancel_reason = text_in(event, "reason");
    cell_.cancelled_by = text_in(event, "by");
    const bool goes_on_already = cell_.told.has_value();
    cell_.told = 0;
    if (!goes_on_already) tell();
  }

  std::uint32_t end_of_telling() const {
    if (cell_.phase == GraphPhase::kDiscarding) return cell_.intake.next();
    return cell_.is_cancelling ? cell_.header.total_count : cell_.header.told_start;
  }

  // The next tasks, and another turn if there are more.
  void tell() {
    if (!cell_.told) return;
    const std::uint32_t end = end_of_telling();
    const std::uint32_t last = std::min(end, *cell_.told + kToldPerTurn);
    for (TaskIndex task = *cell_.told; task < last; ++task) tell_one(task_key(graph_, task));
    cell_.told = last;
    if (last < end) return go_on();
    cell_.told.reset();
    if (cell_.phase != GraphPhase::kDiscarding) return;
    is_gone_ = true;
    output_.remove();
  }

  void go_on() {
    output_.begin_event(kGraphContinued);
    write_key_only(output_.bytes(), graph_);
  }

  void tell_one(const std::string& key) {
    if (cell_.phase == GraphPhase::kDiscarding) {
      output_.begin_event(kTaskDiscarded);
      write_key_only(output_.bytes(), key);
    } else if (cell_.is_cancelling) {
      output_.begin_event(kTaskCancelAsked);
      write_task_cancel(output_.bytes(), key, cell_.cancel_reason, cell_.cancelled_by, true);
    } else {
      output_.begin_event(kTaskDependencyEnded);
      write_dependency_ended(output_.bytes(), key, {});
    }
  }

  void count(const TaskEndedMessage& ended) {
    if (cell_.phase != GraphPhase::kRunning || cell_.left == 0) return;
    --cell_.left;
    if (ended.kind == TaskKind::kRun) count_run(ended);
    if (ended.epoch && ended.state == TaskState::kDone)
      cell_.frontier = std::max(cell_.frontier, *ended.epoch);
    if (cell_.left == 0) end();
  }

  void count_run(const TaskEndedMessage& ended) {
    switch (ended.state) {
      case TaskState::kDone: ++cell_.done; break;
      case TaskState::kFailed: ++cell_.failed; break;
      default: ++cell_.cancelled; break;
    }
    if (ended.is_skipped) ++cell_.skipped;
    if (ended.error && cell_.first_error.empty()) cell_.first_error = *ended.error;
  }

  void end() {
    cell_.phase = GraphPhase::kEnded;
    cell_.ended_ns = input_.context.time_ns();
    cell_.told.reset();
    switch (cell_.verdict()) {
      case GraphVerdict::kFailed:
        return output_.fail(std::string(kGraphFailed),
                            std::to_string(cell_.failed) + " of " +
                                std::to_string(cell_.header.run_count) +
                                " tasks failed; first: " + cell_.first_error);
      case GraphVerdict::kCancelled: return output_.cancel();
      default: break;
    }
    cell_.frontier = cell_.header.epoch_count;
    output_.begin_result();
    codec::Buffer& out = output_.bytes();
    codec::write_map_head(out, 2);
    codec::write_text(out, "done");
    codec::write_nat(out, cell_.done);
    codec::write_text(out, "skipped");
    codec::write_nat(out, cell_.skipped);
  }

  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  std::string_view graph_;
  GraphCell cell_;
  bool is_gone_ = false;
};

}  // namespace

void GraphMachine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  const std::string_view graph = View::of(input.context.key()).text().value_or("");
  if (!input.state) {
    const bool opens = input.mail.kind == MailKind::kEvent && input.mail.schema == kGraphOpened;
    if (!opens || graph_id_problem(graph)) return output.remove();
    auto header = read_header(*View::of(input.mail.value).find("header"));
    if (!header) return output.remove();
    GraphCell cell;
    cell.header = std::move(*header);
    return GraphTurn(input, output, graph, std::move(cell)).open(View::of(input.mail.value));
  }
  auto cell = read_graph_cell(View::of(*input.state));
  if (!cell) return output.fail("graph.bad_state", "the state is not that of a graph");
  GraphTurn(input, output, graph, std::move(*cell)).take();
}

}  // namespace holdfast::tasks
