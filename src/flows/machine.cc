// SPDX-License-Identifier: Apache-2.0
#include "flows/machine.h"

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "flows/turn.h"

namespace holdfast::flows {
namespace {

using codec::View;
using kernel::MailKind;

std::string_view text_in_event(View event, std::string_view field) {
  const auto value = event.find(field);
  return value ? value->text().value_or("") : "";
}

// The program stands beside the state, which is written anew with each step.
void keep(const kernel::StepInput& input, kernel::StepOutput& output, Run& run) {
  if (!run.part.is_zero()) {
    output.keep_part(run.part);
  } else if (input.can_part) {
    output.begin_part();
    output.bytes().append(run.program);
    run.part = output.end_part();
    run.program.clear();
  }
  codec::Buffer state;
  write_run(state, run);
  if (state.size() > kMaxStateBytes) {
    return output.fail("flow.too_large", "the results that the flow keeps have more than " +
                                             std::to_string(kMaxStateBytes) + " bytes");
  }
  output.begin_state();
  output.bytes().append(state.view());
  if (run.unopened.empty()) return;
  output.begin_event(kFlowContinued);
  codec::write_map_head(output.bytes(), 1);
  codec::write_text(output.bytes(), "key");
  output.bytes().append(input.context.key());
}

void take(const kernel::StepInput& input, Turn& turn) {
  const kernel::Mail& mail = input.mail;
  if (mail.kind == MailKind::kReceipt || mail.kind == MailKind::kRejected) {
    turn.take_answer(mail);
  } else if (mail.schema == kFlowSignalled) {
    const View event = View::of(mail.value);
    turn.take_signal(text_in_event(event, "name"), event.find("data")->encoded());
  }
}

}  // namespace

void FlowMachine::step(const kernel::StepInput& input, kernel::StepOutput& output) const {
  Run run;
  const bool is_new = !input.state;
  if (is_new) {
    // A message to a flow that is not there leaves nothing.
    if (input.mail.kind != MailKind::kEvent || input.mail.schema != kFlowStarted)
      return output.remove();
    const View event = View::of(input.mail.value);
    run.role = event.find("role")->nat().value_or(0);
    const base::ByteView program = event.find("program")->encoded();
    run.program.assign(program.begin(), program.end());
  } else {
    auto read = read_run(View::of(*input.state));
    if (!read) return output.fail("flow.bad_state", "the state is not that of a flow");
    run = std::move(*read);
  }
  base::ByteView encoded = run.program;
  if (!run.part.is_zero()) {
    const auto part = input.parts == nullptr ? std::nullopt : input.parts->read(run.part);
    if (!part) return output.give_up();
    encoded = *part;
  }
  if (input.mail.kind == MailKind::kEvent && input.mail.schema == kFlowCancelAsked)
    return output.cancel();
  // Turns point into it, and `keep` empties `run.program`.
  const base::Bytes kept(encoded.begin(), encoded.end());
  const auto program = read_program(View::of(kept));
  if (!program) return output.fail("flow.bad_program", program.error().to_string());
  Turn turn(input, output, *program, run);
  if (is_new) {
    turn.begin();
  } else {
    take(input, turn);
  }
  if (turn.work()) keep(input, output, run);
}

bool FlowMachine::write_whole(base::ByteView state, const kernel::StateParts& parts,
                              codec::Buffer& out) const {
  auto run = read_run(View::of(state));
  if (!run) return false;
  if (!run->part.is_zero()) {
    const auto part = parts.read(run->part);
    if (!part) return false;
    run->program.assign(part->begin(), part->end());
    run->part = {};
  }
  write_run(out, *run);
  return true;
}

}  // namespace holdfast::flows
