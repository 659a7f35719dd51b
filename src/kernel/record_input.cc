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

// Whose word it is, where a worker's lease is meant.
void read_fence(ListReader& list, Fence& fence) {
  if (list.at_end()) return;
  fence.worker = list.text();
  fence.dispatch = list.nat();
  list.require(fence.dispatch != 0);
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
  list.require(base::TraceContext::of(event.trace).has_value() ||
               (event.trace.empty() && !list.at_end()));
  if (list.at_end()) return;
  list.require(list.nat() == 1 && event.starts);
  event.reuse = KeyReuse::kStartAgain;
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
  read_fence(list, receipt.fence);
}

void read(ListReader& list, ProgressArrived& progress) {
  progress.intent = list.hash();
  progress.sequence = list.nat();
  progress.kind = list.text();
  progress.payload = list.bytes();
  read_fence(list, progress.fence);
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
  if (list.at_end()) return;
  apply.by = list.text();
  if (list.at_end()) return list.require(!apply.by.empty());
  list.require(list.nat() == 1);
  apply.pin = true;
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

void read(ListReader& list, WorkerEnrolled& enrolled) {
  enrolled.worker = list.text();
  enrolled.node = list.text();
  enrolled.name = list.text();
  enrolled.secret = list.hash();
  enrolled.description = list.bytes();
}

void read(ListReader& list, WorkerChanged& changed) {
  changed.worker = list.text();
  changed.change = list.choice(WorkerChange::kLeave);
  changed.reason = list.text();
  read_by(list, changed.by);
}

void read(ListReader& list, Leased& leased) {
  leased.worker = list.text();
  leased.items = list.bytes();
}

void read(ListReader& list, Returned& returned) {
  returned.worker = list.text();
  returned.items = list.bytes();
}

void read(ListReader& list, StopAsked& asked) {
  asked.intent = list.hash();
  asked.reason = list.text();
  read_by(list, asked.by);
}

void read(ListReader& list, SourceMarked& marked) {
  marked.source = list.text();
  marked.record = list.nat();
}

void read(ListReader& list, ReopenInstance& reopen) {
  reopen.workflow = list.text();
  reopen.key = list.bytes();
  reopen.image = list.bytes();
  reopen.from = list.nat();
  reopen.reason = list.text();
  read_by(list, reopen.by);
}

void read(ListReader& list, MigrateInstances& migrate) {
  migrate.instances = list.bytes();
  read_by(list, migrate.by);
}

template <class Input>
void read_as(ListReader& list, Tick& tick) {
  read(list, tick.input.emplace<Input>());
}

}  // namespace

bool read_input(ListReader& list, Tick& tick) {
  switch (list.choice(kLastTickKind)) {
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
    case TickKind::kWorkerEnrolled: read_as<WorkerEnrolled>(list, tick); break;
    case TickKind::kWorkerChanged: read_as<WorkerChanged>(list, tick); break;
    case TickKind::kLeased: read_as<Leased>(list, tick); break;
    case TickKind::kReturned: read_as<Returned>(list, tick); break;
    case TickKind::kStopAsked: read_as<StopAsked>(list, tick); break;
    case TickKind::kSourceMarked: read_as<SourceMarked>(list, tick); break;
    case TickKind::kReopen: read_as<ReopenInstance>(list, tick); break;
    case TickKind::kMigrate: read_as<MigrateInstances>(list, tick); break;
  }
  return list.done();
}

}  // namespace holdfast::kernel
