// SPDX-License-Identifier: Apache-2.0
#include "node/record_document.h"

#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "kernel/forget_list.h"
#include "kernel/lease_list.h"
#include "kernel/list_reader.h"
#include "kernel/record.h"
#include "node/failed_effect.h"
#include "node/unhandled.h"

namespace holdfast::node {
namespace {

using codec::Buffer;

void field(Buffer& out, std::string_view name) { codec::write_text(out, name); }
void field(Buffer& out, std::string_view name, std::string_view text) {
  field(out, name);
  codec::write_text(out, text);
}
void field(Buffer& out, std::string_view name, std::uint64_t number) {
  field(out, name);
  codec::write_nat(out, number);
}
void flag(Buffer& out, std::string_view name, bool value) {
  field(out, name);
  codec::write_bool(out, value);
}
void hash(Buffer& out, std::string_view name, const base::Hash& hash) {
  field(out, name, std::string_view(hash.to_text()));
}

// A value that is canonical for sure.
void value(Buffer& out, std::string_view name, base::ByteView value) {
  field(out, name);
  if (value.empty()) return codec::write_null(out);
  out.append(value);
}

// What came from outside and stands in the record as bytes: the value if it is one.
void given(Buffer& out, std::string_view name, base::ByteView bytes) {
  field(out, name);
  if (bytes.empty()) return codec::write_null(out);
  codec::Normaliser normaliser;
  const auto item = normaliser.part_from_cbor(codec::Schema::item(), bytes);
  if (item) return out.append(*item);
  codec::write_bytes(out, bytes);
}

// The hashes of the workflows that definitions have, and of their modules: until others are
// applied, records are made by these. Nothing is written if the definitions are not good.
bool write_workflows(Buffer& out, base::ByteView definitions) {
  codec::Normaliser normaliser;
  const auto item = normaliser.part_from_cbor(codec::Schema::item(), definitions);
  if (!item) return false;
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = defs::load(codec::View::of(*item), "$", &builtin);
  const auto* manifest =
      bundle.manifest ? std::get_if<defs::Manifest>(&bundle.manifest->definition) : nullptr;
  if (manifest == nullptr || !bundle.errors.empty()) return false;
  const auto hash_of = [&](const std::string& name) {
    const defs::Entry* entry = bundle.catalogue.find_entry(name);
    return entry != nullptr ? entry->hash : base::Hash();
  };
  field(out, "workflows");
  codec::write_list_head(out, manifest->workflows.size());
  for (const defs::NamedRef& ref : manifest->workflows) {
    const auto* workflow = bundle.catalogue.get<defs::WorkflowDef>(ref.name);
    const std::string module = workflow != nullptr ? workflow->impl.module : std::string();
    codec::write_map_head(out, 4);
    field(out, "workflow", std::string_view(ref.name));
    hash(out, "workflow_hash", hash_of(ref.name));
    field(out, "module", std::string_view(module));
    hash(out, "module_hash", hash_of(module));
  }
  return true;
}

struct TickFields {
  Buffer& out;
  std::uint64_t record;

  void begin(kernel::TickKind kind, std::uint64_t fields) {
    codec::write_map_head(out, 1 + fields);
    field(out, "kind", kernel::name_of(kind));
  }
  void operator()(const kernel::EventArrived& event) {
    const auto trace = base::TraceContext::of(event.trace);
    const bool starts_again = event.reuse == kernel::KeyReuse::kStartAgain;
    begin(kernel::TickKind::kEvent, 6U + (trace ? 1U : 0U) + (starts_again ? 1U : 0U));
    field(out, "schema", event.schema);
    value(out, "value", event.value);
    field(out, "id", event.id);
    field(out, "workflow", event.workflow);
    given(out, "key", event.key);
    flag(out, "starts", event.starts);
    if (starts_again) flag(out, "starts_again", true);
    if (trace) field(out, "traceparent", trace->to_text());
  }
  void operator()(const kernel::ReceiptArrived& receipt) {
    const auto failure = failure_of(receipt);
    begin(kernel::TickKind::kReceipt,
          (receipt.fence.dispatch == 0 ? 6U : 8U) + (failure ? 1U : 0U));
    hash(out, "intent", receipt.intent);
    field(out, "status", kernel::name_of(receipt.status));
    if (receipt.is_too_large()) {
      field(out, "payload");
      codec::write_map_head(out, 2);
      hash(out, "hash", receipt.payload_hash());
      field(out, "size", receipt.payload_size());
    } else {
      given(out, "payload", receipt.payload);
    }
    field(out, "cost_cents");
    if (receipt.cost_cents) {
      codec::write_nat(out, *receipt.cost_cents);
    } else {
      codec::write_null(out);
    }
    field(out, "signature_key");
    codec::write_bytes(out, receipt.signature.key);
    field(out, "signature");
    codec::write_bytes(out, receipt.signature.bytes);
    write_fence(receipt.fence);
    if (!failure) return;
    field(out, "failure");
    codec::write_map_head(out, 2);
    field(out, "code", failure->code);
    field(out, "message", failure->message);
  }
  void operator()(const kernel::ProgressArrived& progress) {
    begin(kernel::TickKind::kProgress, progress.fence.dispatch == 0 ? 4 : 6);
    hash(out, "intent", progress.intent);
    field(out, "sequence", progress.sequence);
    field(out, "frame", progress.kind);
    given(out, "payload", progress.payload);
    write_fence(progress.fence);
  }
  void operator()(const kernel::Continue&) { begin(kernel::TickKind::kContinue, 0); }
  void operator()(const kernel::ControlRequested& request) {
    begin(kernel::TickKind::kControl, 4 + !request.by.empty());
    field(out, "control", name_of(request.control));
    field(out, "workflow", request.workflow);
    given(out, "key", request.key);
    field(out, "reason", request.reason);
    write_by(request.by);
  }
  void operator()(const kernel::ApplyManifest& apply) {
    Buffer workflows;
    const bool has_workflows = write_workflows(workflows, apply.definitions);
    begin(kernel::TickKind::kApply, 1u + !apply.by.empty() + apply.pin + has_workflows);
    out.append(workflows.view());
    given(out, "definitions", apply.definitions);
    if (apply.pin) {
      codec::write_text(out, "pin");
      codec::write_bool(out, true);
    }
    write_by(apply.by);
  }
  void operator()(const kernel::Propose& propose) {
    begin(kernel::TickKind::kPropose, 2 + !propose.by.empty());
    given(out, "document", propose.document);
    field(out, "description", propose.description);
    write_by(propose.by);
  }
  void operator()(const kernel::ReportShadow& shadow) {
    begin(kernel::TickKind::kShadow, 2 + !shadow.by.empty());
    field(out, "proposal", shadow.proposal);
    given(out, "report", shadow.report);
    write_by(shadow.by);
  }
  void operator()(const kernel::Decide& decide) {
    begin(kernel::TickKind::kDecide, 4);
    field(out, "proposal", decide.proposal);
    flag(out, "approve", decide.approve);
    field(out, "by", decide.by);
    field(out, "reason", decide.reason);
  }
  void operator()(const kernel::ApplyProposal& apply) {
    begin(kernel::TickKind::kApplyProposal, 1 + !apply.by.empty());
    field(out, "proposal", apply.proposal);
    write_by(apply.by);
  }
  void operator()(const kernel::ForgetEnded& forget) {
    begin(kernel::TickKind::kForget, 1);
    write_names(forget.instances, true);
  }
  void write_names(base::ByteView instances, bool with_record) {
    field(out, "instances");
    const auto names = kernel::read_forget_list(instances);
    if (!names) return codec::write_null(out);
    codec::write_list_head(out, names->size());
    for (const kernel::ForgetName& name : *names) {
      codec::write_map_head(out, with_record ? 3 : 2);
      field(out, "workflow", name.workflow);
      given(out, "key", name.key);
      if (with_record) field(out, "last_record", name.last_record);
    }
  }

  void operator()(const kernel::WorkerEnrolled& enrolled) {
    begin(kernel::TickKind::kWorkerEnrolled, 4);
    field(out, "worker", enrolled.worker);
    field(out, "node", enrolled.node);
    field(out, "name", enrolled.name);
    given(out, "description", enrolled.description);  // the hash of the secret is nobody's business
  }
  void operator()(const kernel::WorkerChanged& changed) {
    begin(kernel::TickKind::kWorkerChanged, 3 + !changed.by.empty());
    field(out, "worker", changed.worker);
    field(out, "change", name_of(changed.change));
    field(out, "reason", changed.reason);
    write_by(changed.by);
  }
  void operator()(const kernel::Leased& leased) {
    begin(kernel::TickKind::kLeased, 2);
    field(out, "worker", leased.worker);
    field(out, "leases");
    const auto items = kernel::read_lease_list(leased.items);
    if (!items) return codec::write_null(out);
    codec::write_list_head(out, items->size());
    for (std::size_t i = 0; i < items->size(); ++i) {
      const kernel::LeaseItem& item = (*items)[i];
      codec::write_map_head(out, 5);
      hash(out, "intent", item.intent);
      field(out, "dispatch", kernel::dispatch_number(record, i));
      given(out, "detail", item.detail);
      field(out, "time_limit_ns");
      kernel::write_optional_nat(out, item.time_limit_ns);
      flag(out, "fails_if_lost", item.fails_if_lost);
    }
  }
  void operator()(const kernel::Returned& returned) {
    begin(kernel::TickKind::kReturned, 2);
    field(out, "worker", returned.worker);
    field(out, "leases");
    const auto items = kernel::read_return_list(returned.items);
    if (!items) return codec::write_null(out);
    codec::write_list_head(out, items->size());
    for (const kernel::ReturnItem& item : *items) {
      codec::write_map_head(out, 4);
      hash(out, "intent", item.intent);
      field(out, "dispatch", item.dispatch);
      field(out, "reason", kernel::name_of(item.reason));
      given(out, "resume", item.resume);
    }
  }
  void operator()(const kernel::StopAsked& asked) {
    begin(kernel::TickKind::kStopAsked, 2 + !asked.by.empty());
    hash(out, "intent", asked.intent);
    field(out, "reason", asked.reason);
    write_by(asked.by);
  }
  void operator()(const kernel::SourceMarked& marked) {
    begin(kernel::TickKind::kSourceMarked, 2);
    field(out, "source", marked.source);
    field(out, "record", marked.record);
  }
  void operator()(const kernel::ReopenInstance& reopen) {
    begin(kernel::TickKind::kReopen, 5 + !reopen.by.empty());
    field(out, "workflow", reopen.workflow);
    given(out, "key", reopen.key);
    field(out, "image_bytes", reopen.image.size());
    field(out, "from", reopen.from);
    field(out, "reason", reopen.reason);
    write_by(reopen.by);
  }
  void operator()(const kernel::MigrateInstances& migrate) {
    begin(kernel::TickKind::kMigrate, 1 + !migrate.by.empty());
    write_names(migrate.instances, false);
    write_by(migrate.by);
  }

  void write_fence(const kernel::Fence& fence) {
    if (fence.dispatch == 0) return;
    field(out, "worker", fence.worker);
    field(out, "dispatch", fence.dispatch);
  }
  void write_by(std::string_view by) {
    if (!by.empty()) field(out, "by", by);
  }

  static std::string_view name_of(kernel::WorkerChange change) noexcept {
    switch (change) {
      case kernel::WorkerChange::kActivate: return "activate";
      case kernel::WorkerChange::kDrain: return "drain";
      case kernel::WorkerChange::kCordon: return "cordon";
      case kernel::WorkerChange::kUncordon: return "uncordon";
      case kernel::WorkerChange::kLose: return "lose";
      case kernel::WorkerChange::kLeave: break;
    }
    return "leave";
  }

  static std::string_view name_of(kernel::Control control) noexcept {
    switch (control) {
      case kernel::Control::kCancel: return "cancel";
      case kernel::Control::kPause: return "pause";
      case kernel::Control::kResume: break;
    }
    return "resume";
  }
};

void write_instance(Buffer& out, const kernel::RecordView& record,
                    const kernel::InstanceView& instance) {
  codec::write_map_head(out, 13);
  field(out, "workflow", instance.workflow);
  given(out, "key", instance.key);
  field(out, "previous", instance.previous);
  field(out, "status", status_of(record, instance));
  flag(out, "paused", instance.paused);
  value(out, "state", instance.state);
  if (instance.state_hash) {
    hash(out, "state_hash", *instance.state_hash);
  } else {
    value(out, "state_hash", {});
  }
  value(out, "outcome", instance.outcome);
  field(out, "steps", instance.steps);
  field(out, "ignored", instance.ignored);
  field(out, "opened");
  codec::write_list_head(out, instance.opened.size());
  for (const kernel::OpenedView& opened : instance.opened) {
    codec::write_map_head(out, 3);
    hash(out, "intent", opened.intent);
    field(out, "effect", opened.effect);
    value(out, "params", opened.params);
  }
  field(out, "settled");
  codec::write_list_head(out, instance.settled.size());
  for (const kernel::SettledView& settled : instance.settled) {
    codec::write_map_head(out, 2);
    hash(out, "intent", settled.intent);
    field(out, "status", settled.status);
  }
  field(out, "annotations");
  codec::write_list_head(out, instance.annotations.size());
  for (const base::ByteView annotation : instance.annotations) out.append(annotation);
}

}  // namespace

void write_document(Buffer& out, const kernel::RecordView& record) {
  codec::write_map_head(out, 6);
  field(out, "record", record.number);
  field(out, "time_ns", record.tick.time_ns);
  field(out, "tick");
  std::visit(TickFields{out, record.number}, record.tick.input);
  field(out, "instances");
  codec::write_list_head(out, record.instances.size());
  for (const kernel::InstanceView& instance : record.instances)
    write_instance(out, record, instance);
  field(out, "emitted");
  codec::write_list_head(out, record.emitted.size());
  for (const kernel::EmittedView& emitted : record.emitted) {
    codec::write_map_head(out, 2);
    field(out, "schema", emitted.schema);
    value(out, "value", emitted.value);
  }
  field(out, "notes");
  codec::write_list_head(out, record.notes.size());
  for (const auto& note : record.notes) {
    codec::write_list_head(out, note.size());
    for (const std::string_view text : note) codec::write_text(out, text);
  }
}

}  // namespace holdfast::node
