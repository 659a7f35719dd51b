// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: a tick to the scripted world (testing_script.h), said in words
// that the reference model understands, and the bytes that it becomes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "codec/normaliser.h"
#include "kernel/envelope.h"
#include "kernel/forget_list.h"
#include "kernel/testing_blobs.h"
#include "kernel/testing_rules.h"
#include "kernel/testing_script.h"
#include "kernel/world.h"

namespace holdfast::kernel::testing {

// What is wrong with a tick, besides what it asks for.
enum class Fault : std::uint8_t {
  kNone,
  kNotCanonical,  // the value is right, its encoding is not the canonical one
  kDoesNotFit,    // the value is not of its schema
  kNotCbor,       // the value is not CBOR
  kBadText,       // a text is not UTF-8
  kPretends,      // an event in the form of a receipt
  kTooLarge,      // more than a value can be; only its hash is there
  kBadSignature,  // too short to be one
  kNobodyChecks,  // the world has nobody who checks signatures
};

struct Input {
  enum class Kind : std::uint8_t {
    kEvent,
    kReceipt,
    kProgress,
    kContinue,
    kControl,
    kApply,
    kPropose,
    kShadow,
    kDecide,
    kApplyProposal,
    kForget,
  };
  Kind kind = Kind::kEvent;
  Fault fault = Fault::kNone;

  Actions::Event event;  // kEvent
  std::string variant;   // kEvent: the schema of the variant that it comes in; empty: as it is
  std::string id;        // kEvent
  bool starts = false;   // kEvent to one instance

  std::size_t intent = 0;                     // kReceipt, kProgress: by order of opening, from 0
  ReceiptStatus status = ReceiptStatus::kOk;  // kReceipt
  std::uint64_t sequence = 0;                 // kProgress
  std::string script;                         // kProgress: its kind

  Control control = Control::kCancel;  // kControl
  std::string workflow;                // kControl; kEvent: empty if it goes to all who subscribe
  std::string key;                     // canonical

  Document document = Document::kFirst;  // kApply, kPropose
  std::uint64_t proposal = 0;            // kShadow, kDecide, kApplyProposal
  bool approve = false;                  // kDecide

  // kForget: by name, with the record that must be their last one; no names: no list at all.
  std::vector<std::pair<Name, std::uint64_t>> forgotten;
};

class ScriptDocuments {
 public:
  ScriptDocuments() {
    documents_[Document::kFirst] = definitions(kScriptRoutes);
    documents_[Document::kOther] = definitions(kOtherScriptRoutes);
    documents_[Document::kBroken] = canonical(R"([{"$kind":"defschema","name":"t/Text@1"}])");
    documents_[Document::kNotCbor] = {0xff};
    MemoryBlobs blobs;
    World world(machines_, blobs);
    Tick tick;
    tick.input = ApplyManifest{documents_[Document::kFirst]};
    CHECK(!world.reduce(tick).record.empty());
    first_hash_ = world.program().manifest_hash();
    documents_[Document::kPatch] = canonical(
        R"({"base_manifest_hash":")" + first_hash_.to_text() +
        R"(","patches":[{"add_def":{"kind":"defschema","node":{"$kind":"defschema","name":"t/More@1",)" +
        R"("type":{"record":{"do":{"text":{}}}}}}}]})");
    pretended_ = pretended(world.program());
  }

  const base::Bytes& operator[](Document document) const { return documents_.at(document); }

  // A receipt that nobody gave, as a value of the event type of w/Whole@1.
  const base::Bytes& pretended_receipt() const { return pretended_; }

 private:
  static base::Bytes canonical(const std::string& json) {
    codec::Normaliser normaliser;
    const auto made = normaliser.from_json(codec::Schema::any(), json);
    CHECK(made.has_value());
    return {made->begin(), made->end()};
  }
  static base::Bytes definitions(const char* routes) {
    return canonical(std::string(kScriptDefinitions) + routes);
  }
  static base::Bytes pretended(const Program& program) {
    Mail mail;
    mail.kind = MailKind::kReceipt;
    mail.origin.effect = "t/a@1";
    mail.value = {codec::kTrueByte};
    codec::Buffer out;
    write_event(program, program.workflow(*program.workflow_named("w/Whole@1")), {}, mail, out);
    return out.to_bytes();
  }

  ScriptMachines machines_;
  base::Hash first_hash_;
  std::map<Document, base::Bytes> documents_;
  base::Bytes pretended_;
};

inline const ScriptDocuments& documents() {
  static const ScriptDocuments all;
  return all;
}

// The bytes of an input. They borrow from it, so it must stay where it is.
class Prepared {
 public:
  // `intents` are those that were opened, in order; `at` is how many ticks there were before.
  Prepared(const Input& input, const std::vector<base::Hash>& intents, std::uint64_t at)
      : input_(input) {
    tick_.time_ns = (at + 1) * 1'000'000'000;
    tick_.entropy.fill(static_cast<std::uint8_t>(at));
    intent_.bytes.fill(0xee);
    if (input.intent < intents.size()) intent_ = intents[input.intent];
    fill();
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const Tick& tick() const noexcept { return tick_; }

 private:
  void fill() {
    switch (input_.kind) {
      case Input::Kind::kEvent: return event();
      case Input::Kind::kReceipt: return receipt();
      case Input::Kind::kProgress:
        payload(true);
        tick_.input = ProgressArrived{intent_, input_.sequence, text(input_.script), value_.view()};
        return;
      case Input::Kind::kContinue: tick_.input = Continue{}; return;
      case Input::Kind::kControl:
        tick_.input =
            ControlRequested{input_.control, input_.workflow, base::as_bytes(input_.key), text({})};
        return;
      case Input::Kind::kApply: tick_.input = ApplyManifest{documents()[input_.document]}; return;
      case Input::Kind::kPropose:
        tick_.input = Propose{documents()[input_.document], text({})};
        return;
      case Input::Kind::kShadow:
        payload(true);
        tick_.input = ReportShadow{input_.proposal, value_.view()};
        return;
      case Input::Kind::kDecide:
        tick_.input = Decide{input_.proposal, input_.approve, "somebody", text({})};
        return;
      case Input::Kind::kApplyProposal: tick_.input = ApplyProposal{input_.proposal}; return;
      case Input::Kind::kForget: return forget();
    }
  }

  std::string_view text(std::string_view good) const {
    return input_.fault == Fault::kBadText ? "\xc3(" : good;
  }

  void event() {
    const std::string& schema = input_.variant.empty() ? input_.event.schema : input_.variant;
    switch (input_.fault) {
      case Fault::kPretends: value_.append(documents().pretended_receipt()); break;
      case Fault::kNotCbor: value_.push(0xff); break;
      case Fault::kDoesNotFit: codec::write_nat(value_, 0); break;
      default: write_value();
    }
    tick_.input = EventArrived{
        schema,       value_.view(), text(input_.id), input_.workflow, base::as_bytes(input_.key),
        input_.starts};
  }

  void write_value() {
    if (!input_.variant.empty()) {
      codec::write_map_head(value_, 2);
      codec::write_text(value_, "$tag");
      const std::string& schema = input_.event.schema;  // t/Tag@1
      codec::write_text(value_, std::string_view(schema).substr(2, schema.size() - 4));
      codec::write_text(value_, "$value");
    }
    const std::size_t begin = value_.size();
    write_script_event(value_, input_.event);
    // The head of the map in two bytes instead of one.
    if (input_.fault != Fault::kNotCanonical) return;
    const auto head = value_.data()[begin];
    value_.make_gap(begin, 1);
    value_.data()[begin] = 0xb8;
    value_.data()[begin + 1] = head & 0x1f;
  }

  void receipt() {
    payload(input_.status == ReceiptStatus::kOk);
    Signature signature;
    if (input_.fault == Fault::kBadSignature || input_.fault == Fault::kNobodyChecks) {
      signature.key = signature_bytes_;
      signature.key = signature.key.first(32);
      signature.bytes = signature_bytes_;
      if (input_.fault == Fault::kBadSignature) signature.bytes = signature.bytes.first(8);
    }
    ReceiptArrived receipt{intent_, input_.status, value_.view(), {}, signature};
    if (input_.fault == Fault::kTooLarge) {
      receipt.payload = signature_bytes_;
      receipt.payload = receipt.payload.first(32);
      receipt.left_out = codec::kMaxValueBytes + 1;
    }
    tick_.input = receipt;
  }

  void forget() {
    std::vector<ForgetName> names;
    for (const auto& [name, record] : input_.forgotten)
      names.push_back({name.first, base::as_bytes(name.second), record});
    if (!names.empty()) write_forget_list(value_, names);
    tick_.input = ForgetEnded{value_.view()};
  }

  // A t/Done@1, or a sys/EffectError@1.
  void payload(bool good) {
    if (input_.fault == Fault::kNotCbor) return value_.push(0xff);
    if (input_.fault == Fault::kDoesNotFit) return codec::write_nat(value_, 0);
    codec::write_map_head(value_, good ? 1 : 4);
    if (good) {
      codec::write_text(value_, "ok");
      return codec::write_bool(value_, true);
    }
    codec::write_text(value_, "code");
    codec::write_text(value_, "it.broke");
    codec::write_text(value_, "details");
    codec::write_null(value_);
    codec::write_text(value_, "message");
    codec::write_text(value_, "it broke");
    codec::write_text(value_, "retryable");
    codec::write_bool(value_, false);
  }

  const Input& input_;
  base::Hash intent_;
  base::Bytes signature_bytes_ = base::Bytes(64, 1);
  codec::Buffer value_;
  Tick tick_;
};

// All that an event says, for comparing two of them.
inline std::string said_by(const Input& input) {
  const Prepared prepared(input, {}, 0);
  const auto& event = std::get<EventArrived>(prepared.tick().input);
  std::string text;
  for (const std::string_view part :
       {event.schema, base::as_text(event.value), event.workflow, base::as_text(event.key)})
    text += std::to_string(part.size()) + " " + std::string(part);
  return text + (event.starts ? "!" : "");
}

}  // namespace holdfast::kernel::testing
