// SPDX-License-Identifier: Apache-2.0
// The keys of each map below stand in canonical order: shorter first, then bytewise. A test holds
// them against the normaliser.
#include "kernel/envelope.h"

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "defs/system_names.h"

namespace holdfast::kernel {
namespace {

class EnvelopeWriter {
 public:
  EnvelopeWriter(const Program& program, const WorkflowProgram& workflow, base::ByteView key,
                 const Mail& mail, codec::Buffer& out)
      : workflow_(workflow), key_(key), mail_(mail), out_(out) {
    // That of the version which opened it: another may have an effect of that name, too.
    const auto* allowed = workflow.effects.find(mail.origin.effect);
    CHECK(allowed != nullptr);  // a version stays while mail waits; see also read_back.h
    effect_ = &program.effect(allowed->second.effect);
  }

  void receipt() {
    codec::write_map_head(out_, 16);
    text("effect", effect_->name);
    text("status", name_of(mail_.status));
    hash("intent_id", mail_.origin.intent);
    bytes("signature", mail_.signature);
    nat("cost_cents", mail_.cost_cents);
    issuer();
    hash("effect_hash", effect_->hash);
    params_hash();
    nat("emitted_at_seq", mail_.origin.opened_at);
    null("executor_module");
    value("receipt_payload", mail_.value);
    origin();
  }

  void rejected() {
    codec::write_map_head(out_, 17);
    text("effect", effect_->name);
    text("status", name_of(mail_.status));
    hash("intent_id", mail_.origin.intent);
    text("error_code", mail_.fault());
    issuer();
    hash("effect_hash", effect_->hash);
    params_hash();
    hash("payload_hash", mail_.payload_hash);
    nat("payload_size", mail_.payload_size);
    text("error_message", mail_.note);
    nat("emitted_at_seq", mail_.origin.opened_at);
    null("executor_module");
    origin();
  }

  void progress() {
    codec::write_map_head(out_, 17);
    nat("seq", mail_.sequence);
    text("kind", mail_.note);
    text("effect", effect_->name);
    value("payload", mail_.value);
    hash("intent_id", mail_.origin.intent);
    bytes("signature", {});
    issuer();
    hash("effect_hash", effect_->hash);
    params_hash();
    null("payload_ref");
    nat("emitted_at_seq", mail_.origin.opened_at);
    null("executor_module");
    origin();
  }

 private:
  // The keys that are last in all three.
  void origin() {
    text("origin_module_id", workflow_.name);
    text("executor_entrypoint", effect_->executor.kind);
    if (workflow_.key) {
      value("origin_instance_key", key_);
    } else {
      null("origin_instance_key");
    }
    null("executor_module_hash");
    hash("origin_workflow_hash", workflow_.hash);
  }

  void params_hash() {
    if (!mail_.origin.params_hash) return null("params_hash");
    hash("params_hash", *mail_.origin.params_hash);
  }

  void issuer() {
    if (mail_.origin.issuer_ref.empty()) return null("issuer_ref");
    text("issuer_ref", mail_.origin.issuer_ref);
  }

  void text(std::string_view name, std::string_view value) {
    codec::write_text(out_, name);
    codec::write_text(out_, value);
  }
  void bytes(std::string_view name, base::ByteView value) {
    codec::write_text(out_, name);
    codec::write_bytes(out_, value);
  }
  void value(std::string_view name, base::ByteView value) {
    codec::write_text(out_, name);
    write_alone(out_, value);
  }
  void hash(std::string_view name, const base::Hash& value) { text(name, value.to_text()); }
  void null(std::string_view name) {
    codec::write_text(out_, name);
    codec::write_null(out_);
  }
  void nat(std::string_view name, std::optional<std::uint64_t> value) {
    if (!value) return null(name);
    codec::write_text(out_, name);
    codec::write_nat(out_, *value);
  }

  const WorkflowProgram& workflow_;
  base::ByteView key_;
  const Mail& mail_;
  codec::Buffer& out_;
  const EffectProgram* effect_;
};

std::string_view schema_of(const Mail& mail) {
  switch (mail.kind) {
    case MailKind::kEvent: return mail.schema;
    case MailKind::kReceipt: return defs::kReceiptEnvelope;
    case MailKind::kRejected: return defs::kReceiptRejected;
    case MailKind::kProgress: return defs::kStreamFrame;
  }
  return {};
}

}  // namespace

const Arm& arm_of_value(const WorkflowProgram& workflow, base::ByteView value) {
  const Arm* arm = workflow.arm_of_tag(*codec::View::of(value).find("$tag")->text());
  CHECK(arm != nullptr);
  return *arm;
}

void write_alone(codec::Buffer& out, base::ByteView value) {
  codec::write_head(out, codec::Major::kBytes, sizeof codec::kSelfDescribe + value.size());
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  out.append(value);
}

void write_event(const Program& program, const WorkflowProgram& workflow, base::ByteView key,
                 const Mail& mail, codec::Buffer& out) {
  if (const Arm* arm = workflow.arm_of_schema(schema_of(mail))) {
    codec::write_map_head(out, arm->unit ? 1 : 2);
    codec::write_text(out, "$tag");
    codec::write_text(out, arm->tag);
    if (arm->unit) return;
    codec::write_text(out, "$value");
  }
  if (mail.kind == MailKind::kEvent) return out.append(mail.value);
  EnvelopeWriter writer(program, workflow, key, mail, out);
  switch (mail.kind) {
    case MailKind::kEvent: return;
    case MailKind::kReceipt: return writer.receipt();
    case MailKind::kRejected: return writer.rejected();
    case MailKind::kProgress: return writer.progress();
  }
}

}  // namespace holdfast::kernel
