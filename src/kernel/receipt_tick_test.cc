// SPDX-License-Identifier: Apache-2.0
// Design: "Receipts".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ed25519.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "codec/limits.h"
#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::lab;
using testing::LabTest;
using testing::open;
using testing::opened;
using testing::state;
using testing::value;

constexpr char kError[] =
    R"({"code":"busy","message":"try later","retryable":true,"details":null})";

class ReceiptTickTest : public LabTest {
 protected:
  // An instance of lab/Keyed@1 with one effect open.
  base::Hash begin_work(std::string_view id) {
    if (!bench_) begin(kToKeyed);
    return opened(send(id, 1)).at(0);
  }
  void SetUp() override { keyed_ = numbered_ = single_ = testing::work; }
};

TEST_F(ReceiptTickTest, an_ok_payload_fits_the_receipt_schema_and_resumes_the_instance) {
  const base::Hash intent = begin_work("a");
  const Outcome outcome = bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 1u);
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
  EXPECT_EQ(json_of(keyed("a")->outcome), R"({"ok":true})");
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().expect_replays();
}

TEST_F(ReceiptTickTest, other_statuses_carry_an_effect_error) {
  std::optional<ReceiptStatus> seen;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    if (input.mail.kind == MailKind::kReceipt) seen = input.mail.status;
    testing::work(input, output);
  };
  for (const ReceiptStatus status :
       {ReceiptStatus::kError, ReceiptStatus::kTimeout, ReceiptStatus::kCancelled}) {
    const std::string id(name_of(status));
    bench().receipt(begin_work(id), kError, status);
    EXPECT_EQ(seen, status);
    EXPECT_EQ(json_of(keyed(id)->outcome),
              R"({"code":"busy","details":null,"message":"try later","retryable":true})");
  }
  bench().expect_replays();
}

TEST_F(ReceiptTickTest,
       a_payload_that_no_value_could_be_is_rejected_once_and_recorded_by_its_hash) {
  begin(std::string(kToKeyed) + "," + kToNumbered);
  const std::vector<base::Hash> intents = opened(send("a", 7));
  const base::Bytes payload(codec::kMaxValueBytes + 1, 0);
  for (const base::Hash& intent : intents) {
    ReceiptArrived receipt;
    receipt.intent = intent;
    receipt.payload = payload;
    const Outcome outcome = bench().tick(receipt);
    ASSERT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
    EXPECT_LT(outcome.record.size(), 1'000u);
    EXPECT_THAT(json_of(outcome.record), HasSubstr(R"(["receipt.too_large",")" + intent.to_text()));
    const auto recorded = tick_of(outcome.record);
    ASSERT_TRUE(recorded);
    const auto& again = std::get<ReceiptArrived>(recorded->input);
    EXPECT_EQ(again.payload_hash(), base::sha256(payload));
    EXPECT_EQ(again.payload_size(), payload.size());
    const Outcome repeated = bench().tick(receipt);
    EXPECT_TRUE(std::holds_alternative<Repeated>(repeated.answer)) << "it is settled";
  }
  EXPECT_EQ(bench().world().open_intents(), 0u);
  EXPECT_EQ(json_of(keyed("a")->outcome), R"("rejected")") << "it has an arm for that";
  EXPECT_EQ(error_of(bench().find("lab/Numbered@1", "7")), "receipt.too_large");
  bench().expect_replays();
}

TEST_F(ReceiptTickTest, whoever_brings_a_receipt_may_leave_out_only_what_is_too_large) {
  const base::Hash intent = begin_work("a");
  ReceiptArrived receipt;
  receipt.intent = intent;
  const base::Hash hash = base::sha256(base::as_bytes("x"));
  receipt.payload = hash.bytes;
  receipt.left_out = codec::kMaxValueBytes;
  EXPECT_EQ(std::get<Refused>(bench().tick(receipt).answer).code, base::ErrorCode::kInvalid);
  receipt.left_out += 1;
  receipt.payload = receipt.payload.first(31);
  EXPECT_EQ(std::get<Refused>(bench().tick(receipt).answer).code, base::ErrorCode::kInvalid);
  receipt.payload = hash.bytes;
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().tick(receipt).answer));
  bench().expect_replays();
}

TEST_F(ReceiptTickTest, an_error_that_is_no_effect_error_is_a_fault) {
  bench().receipt(begin_work("a"), R"({"ok":true})", ReceiptStatus::kError);
  EXPECT_EQ(json_of(keyed("a")->outcome), R"("rejected")");
}

TEST_F(ReceiptTickTest, settled_already_the_recorded_result_is_answered_again_and_nothing_changes) {
  const base::Hash intent = begin_work("a");
  const Outcome first = bench().receipt(intent, kError, ReceiptStatus::kError);
  const base::Bytes before = *bench().world().snapshot();
  const Outcome again = bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(std::get<Repeated>(again.answer).record, std::get<Accepted>(first.answer).record);
  EXPECT_EQ(std::get<Repeated>(again.answer).settled, ReceiptStatus::kError);
  EXPECT_TRUE(again.record.empty());
  EXPECT_EQ(*bench().world().snapshot(), before);
  EXPECT_EQ(bench().world().counters().repeated_receipts, 1u);
}

TEST_F(ReceiptTickTest, an_unknown_intent_is_a_typed_refusal_and_nobody_else_is_harmed) {
  const base::Hash intent = begin_work("a");
  const Outcome outcome = bench().receipt(base::sha256(base::as_bytes("no")), R"({"ok":true})");
  EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kNotFound);
  EXPECT_TRUE(outcome.record.empty());
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
}

TEST_F(ReceiptTickTest, routing_is_by_recorded_origin_never_by_the_manifest) {
  // Nothing subscribes to receipts, and all three could take them.
  begin(std::string(kToKeyed) + "," + kToNumbered + "," + kToSingle);
  const std::vector<base::Hash> intents = opened(send("a", 7));
  ASSERT_EQ(intents.size(), 3u);
  bench().receipt(intents[1], R"({"ok":true})");
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  EXPECT_EQ(bench().find("lab/Numbered@1", "7")->status(), Status::kCompleted);
  EXPECT_EQ(bench().find("lab/Single@1", "")->status(), Status::kWaiting);
}

TEST_F(ReceiptTickTest,
       a_workflow_without_an_arm_for_receipts_is_not_stepped_but_the_intent_settles) {
  begin(kToSingle);
  const base::Hash intent = opened(send("a", 7)).at(0);
  const Outcome outcome = bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 0u);
  EXPECT_THAT(json_of(outcome.record), HasSubstr("\"ok\""));
  EXPECT_EQ(bench().find("lab/Single@1", "")->status(), Status::kRunning);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().expect_replays();
}

// The envelope of the next message, checked against its schema and as JSON.
class EnvelopeTest : public ReceiptTickTest {
 protected:
  void SetUp() override {
    keyed_ = [this](const StepInput& input, StepOutput& output) {
      state(output, 1);
      if (input.mail.kind == MailKind::kEvent)
        return open(output, "lab/work@1", R"({"a":1})", "", "line 7");
      codec::Buffer out;
      input.context.write_event(input.mail, out);
      envelope_ = json_of(out.view());
      const EventProgram* type = bench().world().program().event("lab/KeyedEvent@1");
      codec::Normaliser normaliser;
      const auto made = normaliser.from_cbor(type->schema, out.view(), codec::Strictness::kLenient);
      ASSERT_TRUE(made) << made.error().to_string();
      EXPECT_EQ(json_of(*made), envelope_) << "it is canonical";
    };
    begin(kToKeyed);
    intent_ = opened(send("a", 1)).at(0);
  }
  std::string hash_of(std::string_view kind) {
    const Program& program = bench().world().program();
    return (kind == "workflow" ? program.workflow(0).hash
                               : program.effect(*program.effect_named("lab/work@1")).hash)
        .to_text();
  }

  base::Hash intent_;
  std::string envelope_;
};

TEST_F(EnvelopeTest,
       of_a_receipt_has_origin_intent_effect_executor_payload_status_cost_and_signature) {
  const base::Bytes payload = value(R"({"ok":true})");
  bench().tick(ReceiptArrived{intent_, ReceiptStatus::kOk, payload, 12, {}});
  EXPECT_EQ(
      envelope_,
      R"({"$tag":"Receipt","$value":{"effect":"lab/work@1","status":"ok","intent_id":")" +
          intent_.to_text() +
          R"(","signature":{"$bytes":""},"cost_cents":12,"issuer_ref":"line 7","effect_hash":")" +
          hash_of("effect") +
          R"(","params_hash":null,"emitted_at_seq":2,"executor_module":null,"receipt_payload":{"$bytes":"2dn3oWJva/U="},"origin_module_id":"lab/Keyed@1","executor_entrypoint":"worker","origin_instance_key":{"$bytes":"2dn3YWE="},"executor_module_hash":null,"origin_workflow_hash":")" +
          hash_of("workflow") + R"("}})");
}

TEST_F(EnvelopeTest, of_a_rejected_receipt_says_what_was_wrong_with_what) {
  const base::Bytes payload = value(R"({"ok":5})");
  bench().tick(ReceiptArrived{intent_, ReceiptStatus::kOk, payload, {}, {}});
  EXPECT_THAT(envelope_, HasSubstr(R"("error_code":"receipt.invalid_payload")"));
  EXPECT_THAT(envelope_, HasSubstr(R"("error_message":"$.ok: expected bool, got nat")"));
  EXPECT_THAT(envelope_, HasSubstr(R"("payload_hash":")" + base::sha256(payload).to_text() + "\""));
  EXPECT_THAT(envelope_, HasSubstr(R"("payload_size":5)"));
}

TEST_F(EnvelopeTest, of_progress_has_sequence_kind_and_payload) {
  bench().progress(intent_, 1, R"("half")");
  EXPECT_THAT(envelope_, HasSubstr(R"({"$tag":"Frame","$value":{"seq":1,"kind":"log",)"));
  EXPECT_THAT(envelope_, HasSubstr(R"("payload":{"$bytes":"2dn3ZGhhbGY="})"));
}

TEST_F(ReceiptTickTest, fault_with_an_arm_for_it_settles_and_delivers_and_others_stay_open) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, static_cast<std::uint64_t>(input.mail.kind));
    if (input.mail.kind != MailKind::kEvent) return;
    open(output, "lab/work@1", R"({"a":1})");
    open(output, "lab/work@1", R"({"a":2})");
  };
  const std::vector<base::Hash> intents = opened(send("a", 1));
  const Outcome outcome = bench().receipt(intents[0], R"({"ok":"yes"})");
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":2})") << "it heard of the rejection";
  EXPECT_EQ(bench().world().open_intents(), 1u);
  EXPECT_THAT(json_of(outcome.record), HasSubstr("receipt.invalid_payload"));
  EXPECT_TRUE(
      std::holds_alternative<Repeated>(bench().receipt(intents[0], R"({"ok":true})").answer));
  bench().expect_replays();
}

TEST_F(ReceiptTickTest, fault_without_an_arm_fails_the_instance_and_settles_its_other_intents) {
  begin(kToNumbered);
  numbered_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    open(output, "lab/work@1", R"({"a":1})");
    open(output, "lab/work@1", R"({"a":2})");
  };
  const std::vector<base::Hash> intents = opened(send("a", 7));
  const Outcome outcome = bench().receipt(intents[0], R"({"ok":"yes"})");
  const Cell* cell = bench().find("lab/Numbered@1", "7");
  EXPECT_EQ(cell->status(), Status::kFailed);
  EXPECT_EQ(error_of(cell), "receipt.invalid_payload");
  ASSERT_EQ(outcome.commands.size(), 1u);
  EXPECT_EQ(std::get<StopIntent>(outcome.commands[0]).intent, intents[1]);
  const Outcome late = bench().receipt(intents[1], R"({"ok":true})");
  EXPECT_EQ(std::get<Repeated>(late.answer).settled, ReceiptStatus::kCancelled);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().expect_replays();
}

// Real Ed25519; one key is enrolled.
class OneKey : public ReceiptVerifier {
 public:
  bool is_good(const Signature& signature, base::ByteView message) const override {
    return base::Bytes(signature.key.begin(), signature.key.end()) ==
               base::Bytes(key_.begin(), key_.end()) &&
           base::ed25519_verify(signature.key, message, signature.bytes);
  }
  const base::Ed25519Key& key() const { return key_; }
  base::Ed25519Signature sign(const base::Hash& intent, ReceiptStatus status,
                              base::ByteView payload) const {
    return base::ed25519_sign(seed_, receipt_message(intent, status, payload));
  }

 private:
  base::Ed25519Seed seed_{1, 2, 3};
  base::Ed25519Key key_ = base::ed25519_public_key(seed_);
};

class SignatureTest : public ReceiptTickTest {
 protected:
  void SetUp() override {
    ReceiptTickTest::SetUp();
    bench_.emplace(lab(kToKeyed), machines_, WorldOptions{{}, &verifier_});
    intent_ = opened(send("a", 1)).at(0);
  }
  Outcome receive(base::ByteView key, base::ByteView signature,
                  const char* json = R"({"ok":true})") {
    const base::Bytes payload = value(json);
    return bench().tick(ReceiptArrived{intent_, ReceiptStatus::kOk, payload, {}, {key, signature}});
  }
  OneKey verifier_;
  base::Hash intent_;
};

TEST_F(SignatureTest, a_good_signature_is_accepted_recorded_and_not_asked_for_again_on_replay) {
  const auto signature = verifier_.sign(intent_, ReceiptStatus::kOk, value(R"({"ok":true})"));
  const Outcome outcome = receive(verifier_.key(), signature);
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
  const auto tick = tick_of(outcome.record);
  const auto& recorded = std::get<ReceiptArrived>(tick->input).signature;
  EXPECT_EQ(base::Bytes(recorded.bytes.begin(), recorded.bytes.end()),
            base::Bytes(signature.begin(), signature.end()));
  // A world that knows no keys at all comes to the same.
  World other(machines_, bench().blobs());
  for (const base::Bytes& record : bench().journal()) ASSERT_TRUE(other.replay(record));
  EXPECT_EQ(*other.snapshot(), *bench().world().snapshot());
}

TEST_F(SignatureTest, a_bad_signature_is_refused_and_the_intent_stays_open) {
  const auto good = verifier_.sign(intent_, ReceiptStatus::kOk, value(R"({"ok":true})"));
  auto bad = good;
  bad[7] ^= 1;
  const base::Ed25519Key other_key = base::ed25519_public_key(base::Ed25519Seed{9});
  struct Case {
    base::ByteView key;
    base::ByteView signature;
    const char* payload;
  };
  const Case cases[] = {
      {verifier_.key(), bad, R"({"ok":true})"},
      {verifier_.key(), good, R"({"ok":false})"},
      {other_key, good, R"({"ok":true})"},
      {verifier_.key(), base::ByteView(good).first(63), R"({"ok":true})"},
      {verifier_.key(), {}, R"({"ok":true})"},
      {{}, good, R"({"ok":true})"},
  };
  for (const Case& wrong : cases) {
    const Outcome outcome = receive(wrong.key, wrong.signature, wrong.payload);
    const auto& refusal = std::get<Refused>(outcome.answer);
    EXPECT_EQ(refusal.code, base::ErrorCode::kInvalid);
    EXPECT_THAT(refusal.message, HasSubstr(intent_.to_text()));
    EXPECT_TRUE(outcome.record.empty());
    const std::ptrdiff_t count = &wrong - cases + 1;
    ASSERT_EQ(refusal.details.size(), 4u);
    EXPECT_EQ(refusal.details[0], kBadSignature);
    EXPECT_EQ(refusal.details[2], "key " + base::to_hex(wrong.key));
    EXPECT_THAT(refusal.details[3], HasSubstr(std::to_string(count) + " bad signatures"));
    EXPECT_EQ(bench().world().counters().bad_signatures, static_cast<std::uint64_t>(count));
  }
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  EXPECT_EQ(bench().world().open_intents(), 1u);
}

TEST_F(ReceiptTickTest, where_signatures_cannot_be_checked_a_signed_receipt_is_refused) {
  const base::Hash intent = begin_work("a");
  const base::Bytes payload = value(R"({"ok":true})");
  const base::Bytes key(32);
  const base::Bytes signature(64);
  const Outcome outcome =
      bench().tick(ReceiptArrived{intent, ReceiptStatus::kOk, payload, {}, {key, signature}});
  EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kUnavailable);
}

// "Progress frames: sequence from 1; duplicate dropped and counted; gap accepted and noted; never
// settles."

TEST_F(ReceiptTickTest, progress_is_delivered_and_never_settles) {
  const base::Hash intent = begin_work("a");
  EXPECT_EQ(std::get<Accepted>(bench().progress(intent, 1, "1").answer).deliveries, 1u);
  EXPECT_EQ(std::get<Accepted>(bench().progress(intent, 2, "2").answer).deliveries, 1u);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":2})");
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  bench().expect_replays();
}

TEST_F(ReceiptTickTest, progress_is_numbered_from_1_and_a_duplicate_is_dropped_and_counted) {
  const base::Hash intent = begin_work("a");
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().progress(intent, 0, "1").answer));
  bench().progress(intent, 1, "1");
  bench().put_away();
  const Outcome again = bench().progress(intent, 1, "1");
  EXPECT_TRUE(std::holds_alternative<Repeated>(again.answer));
  EXPECT_TRUE(again.record.empty());
  EXPECT_EQ(bench().world().counters().repeated_progress, 1u);
}

TEST_F(ReceiptTickTest, a_gap_in_progress_is_accepted_and_noted) {
  const base::Hash intent = begin_work("a");
  bench().progress(intent, 1, "1");
  const Outcome outcome = bench().progress(intent, 5, "1");
  EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 1u);
  EXPECT_THAT(json_of(outcome.record),
              HasSubstr(R"(["progress.gap",")" + intent.to_text() + R"(","2","5"])"));
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().progress(intent, 3, "1").answer));
}

TEST_F(ReceiptTickTest, progress_of_a_settled_or_unknown_intent_changes_nothing) {
  const base::Hash intent = begin_work("a");
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().progress(intent, 1, "1").answer));
  const Outcome unknown = bench().progress(base::sha256(base::as_bytes("no")), 1, "1");
  EXPECT_EQ(std::get<Refused>(unknown.answer).code, base::ErrorCode::kNotFound);
}

TEST_F(ReceiptTickTest,
       progress_to_a_workflow_that_does_not_hear_it_is_recorded_and_not_delivered) {
  begin(kToNumbered);
  const base::Hash intent = opened(send("a", 7)).at(0);
  const Outcome outcome = bench().progress(intent, 1, "1");
  EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 0u);
  EXPECT_FALSE(outcome.record.empty());
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().progress(intent, 1, "1").answer));
}

TEST_F(ReceiptTickTest, progress_that_becomes_no_mail_needs_no_room) {
  begin(kToNumbered);
  const base::Hash intent = opened(send("a", 7)).at(0);
  bench().control(Control::kPause, "lab/Numbered@1", "7");
  for (std::size_t i = 0; i < kMaxMailPerInstance; ++i) send("a", 7);
  EXPECT_TRUE(std::holds_alternative<Refused>(send("a", 7).answer));
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().progress(intent, 1, "1").answer));
}

TEST_F(ReceiptTickTest, progress_is_admitted_by_what_it_will_weigh) {
  begin(kToKeyed);
  const std::string reference(kMaxReferenceBytes, 'r');
  keyed_ = [&](const StepInput&, StepOutput& output) {
    state(output, 1);
    open(output, "lab/work@1", R"({"a":1})", "", reference);
  };
  const base::Hash intent = opened(send("a", 1)).at(0);
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  const auto frame = [&](std::uint64_t sequence, std::size_t bytes) {
    codec::Buffer payload;
    codec::write_bytes(payload, base::Bytes(bytes - 5));  // the head has five
    return bench().tick(ProgressArrived{intent, sequence, "log", payload.view()}).answer;
  };
  constexpr std::size_t kLarge = std::size_t{15} << 20;
  for (const std::uint64_t sequence : {1u, 2u})
    ASSERT_TRUE(std::holds_alternative<Accepted>(frame(sequence, kLarge)));
  const std::size_t weight = keyed("a")->mail.bytes() / 2;
  const std::size_t fits = kMaxMailBytesPerInstance - 2 * weight - (weight - kLarge);
  EXPECT_TRUE(std::holds_alternative<Refused>(frame(3, fits + 1)));
  EXPECT_TRUE(std::holds_alternative<Accepted>(frame(3, fits)));
  EXPECT_EQ(keyed("a")->mail.bytes(), kMaxMailBytesPerInstance);
}

}  // namespace
}  // namespace holdfast::kernel
