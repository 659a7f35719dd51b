// SPDX-License-Identifier: Apache-2.0
#include "kernel/record_input.h"

#include "base/trace_context.h"
#include "kernel/record.h"

namespace holdfast::kernel {
namespace {

// The fields of each kind, in their order.

// Who asked, where that is said.
void read_by(ListReader& list, std::string_view& by) {
  if (list.at_end()) return;
  by = list.text();
  list.require(!by.empty());
}

void read(ListReader& list, EventArrived& event) {
  event.schema = list.text();
  event.value = list.next().encoded();
  event.id = list.text();
  event.workflow = list.text();
  event.key = list.bytes();
  event.starts = list.boolean();
  if (list.at_end()) return;
  event.trace = list.bytes();
  list.require(base::TraceContext::of(event.trace).has_value());
}

void read(ListReader& list, ReceiptArrived& receipt) {
  receipt.intent = list.hash();
  receipt.status = list.choice(ReceiptStatus::kCancelled);
  const codec::View payload = list.next();
  if (payload.kind() == codec::ViewKind::kList) {
    ListReader parts(payload);
    receipt.payload = parts.bytes();
    receipt.left_out = parts.nat();
    list.require(parts.done() && receipt.left_out != 0);
  } else {
    receipt.payload = payload.bytes().value_or(base::ByteView());
    list.require(payload.bytes().has_value());
  }
  receipt.cost_cents = list.optional_nat();
  receipt.signature.key = list.bytes();
  receipt.signature.bytes = list.bytes();
}

void read(ListReader& list, ProgressArrived& progress) {
  progress.intent = list.hash();
  progress.sequence = list.nat();
  progress.kind = list.text();
  progress.payload = list.bytes();
}

void read(ListReader&, Continue&) {}

void read(ListReader& list, ControlRequested& request) {
  request.control = list.choice(Control::kResume);
  request.workflow = list.text();
  request.key = list.bytes();
  request.reason = list.text();
  read_by(list, request.by);
}

void read(ListReader& list, ApplyManifest& apply) {
  apply.definitions = list.bytes();
  read_by(list, apply.by);
}

void read(ListReader& list, Propose& propose) {
  propose.document = list.bytes();
  propose.description = list.text();
  read_by(list, propose.by);
}

void read(ListReader& list, ReportShadow& shadow) {
  shadow.proposal = list.nat();
  shadow.report = list.bytes();
  read_by(list, shadow.by);
}

void read(ListReader& list, Decide& decide) {
  decide.proposal = list.nat();
  decide.approve = list.boolean();
  decide.by = list.text();
  decide.reason = list.text();
}

void read(ListReader& list, ApplyProposal& apply) {
  apply.proposal = list.nat();
  read_by(list, apply.by);
}

void read(ListReader& list, ForgetEnded& forget) { forget.instances = list.bytes(); }

template <class Input>
void read_as(ListReader& list, Tick& tick) {
  read(list, tick.input.emplace<Input>());
}

}  // namespace

bool read_input(ListReader& list, Tick& tick) {
  switch (list.choice(TickKind::kForget)) {
    case TickKind::kEvent: read_as<EventArrived>(list, tick); break;
    case TickKind::kReceipt: read_as<ReceiptArrived>(list, tick); break;
    case TickKind::kProgress: read_as<ProgressArrived>(list, tick); break;
    case TickKind::kContinue: read_as<Continue>(list, tick); break;
    case TickKind::kControl: read_as<ControlRequested>(list, tick); break;
    case TickKind::kApply: read_as<ApplyManifest>(list, tick); break;
    case TickKind::kPropose: read_as<Propose>(list, tick); break;
    case TickKind::kShadow: read_as<ReportShadow>(list, tick); break;
    case TickKind::kDecide: read_as<Decide>(list, tick); break;
    case TickKind::kApplyProposal: read_as<ApplyProposal>(list, tick); break;
    case TickKind::kForget: read_as<ForgetEnded>(list, tick); break;
  }
  return list.done();
}

}  // namespace holdfast::kernel
