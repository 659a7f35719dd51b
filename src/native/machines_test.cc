// SPDX-License-Identifier: Apache-2.0
#include "native/machines.h"

#include <gtest/gtest.h>

#include "kernel/testing.h"

namespace holdfast::native {
namespace {

using kernel::testing::json_of;
using kernel::testing::value;

struct Ping {
  static constexpr std::string_view kSchema = "test/Ping@1";
  std::uint64_t id = 0;
};

struct Work {
  static constexpr std::string_view kEffect = "test/work@1";
  static constexpr Executor kExecutor = built_in("echo");
  struct Params {};
  struct Receipt {
    std::string answer;
  };
};

struct Seen {
  std::uint64_t key = 0;
  std::uint64_t record = 0;
  bool is_new = false;
  Uuid first;
  Uuid second;
};

struct Counter {
  static constexpr std::string_view kWorkflow = "test/Counter@1";
  struct State {
    std::uint64_t count = 0;
  };
  using Events = holdfast::Events<On<Ping, &Ping::id>>;
  using Effects = holdfast::Effects<Work>;
  using Context = holdfast::Context<Counter>;

  static void step(State& state, const Ping& ping, Context& context) {
    ++state.count;
    if (ping.id == 9)
      context.complete(
          Seen{context.key(), context.record(), context.is_new(), context.uuid(), context.uuid()});
  }
  static void step(State&, const Received<Work>& received, Context& context) {
    if (received.ok()) return context.complete(received.receipt.answer);
    context.fail(received.error.code, received.error.message);
  }
};

class FixedContext : public kernel::Context {
 public:
  std::uint64_t time_ns() const override { return 1; }
  std::uint64_t logical_ns() const override { return 1; }
  std::uint64_t record() const override { return 17; }
  base::Hash entropy() const override { return {}; }
  base::Hash manifest_hash() const override { return {}; }
  std::string_view workflow() const override { return "test/Counter@1"; }
  base::Hash workflow_hash() const override { return {}; }
  base::ByteView key() const override { return key_; }
  bool is_keyed() const override { return true; }
  std::uint64_t mail_waiting() const override { return 0; }
  void write_event(const kernel::Mail&, codec::Buffer&) const override {}
  bool write_context(const kernel::Mail&, codec::Buffer&) const override { return false; }

 private:
  base::Bytes key_ = {0x09};
};

class MachinesTest : public ::testing::Test {
 protected:
  const Module module_ = Module::of<Counter>("test/code@1");
  const Machines machines_{{&module_, 1}};
  kernel::Mail mail_;
  kernel::StepOutput output_;

  void SetUp() override {
    mail_.schema = "test/Ping@1";
    mail_.value = value(R"({"id":1})");
  }

  void step(std::optional<base::Bytes> state) {
    const auto* machine =
        machines_.find({"test/code@1", defs::Runtime::kNative, {}}, "test/Counter@1");
    ASSERT_NE(machine, nullptr);
    const FixedContext context;
    output_.clear();
    machine->step({state ? std::optional<base::ByteView>(*state) : std::nullopt, mail_, context},
                  output_);
    output_.finish();
  }

  void expect_failed(std::string_view code) {
    EXPECT_EQ(output_.fate(), kernel::Fate::kFailed);
    EXPECT_EQ(output_.error_code(), code);
    EXPECT_FALSE(output_.state());
  }
};

TEST_F(MachinesTest, machines_are_found_by_module_and_workflow) {
  const defs::ModuleDef known{"test/code@1", defs::Runtime::kNative, {}};
  EXPECT_NE(machines_.find(known, "test/Counter@1"), nullptr);
  EXPECT_EQ(machines_.find(known, "test/Other@1"), nullptr);
  EXPECT_EQ(machines_.find({"test/other@1", defs::Runtime::kNative, {}}, "test/Counter@1"),
            nullptr);
  EXPECT_EQ(machines_.find({"test/code@1", defs::Runtime::kSteps, {}}, "test/Counter@1"), nullptr);
}

TEST_F(MachinesTest, a_step_goes_on_from_the_stored_state) {
  step(std::nullopt);
  EXPECT_EQ(json_of(*output_.state()), R"({"count":1})");
  step(value(R"({"count":41})"));
  EXPECT_EQ(json_of(*output_.state()), R"({"count":42})");
}

TEST_F(MachinesTest, a_state_that_does_not_fit_fails_the_step) {
  for (const char* bad : {R"({"count":"x"})", R"({"count":-1})", "{}", "null",
                          R"({"count":1,"more":2})", R"({"other":1})", "[]"}) {
    step(value(bad));
    expect_failed("native.bad_state");
  }
  for (const base::Bytes& bad : {base::Bytes{}, base::Bytes{0xa1}, base::Bytes{0xff},
                                 base::Bytes{0xa1, 0x7b, 0xff, 0xff, 0xff, 0xff}}) {
    step(bad);
    expect_failed("native.bad_state");
  }
}

TEST_F(MachinesTest, an_event_that_does_not_fit_or_is_not_known_fails_the_step) {
  mail_.value = value(R"({"id":"x"})");
  step(std::nullopt);
  expect_failed("native.bad_event");
  mail_.schema = "test/Pong@1";
  step(std::nullopt);
  expect_failed("native.unknown_event");
}

TEST_F(MachinesTest, a_receipt_that_does_not_fit_or_is_not_known_fails_the_step) {
  mail_.kind = kernel::MailKind::kReceipt;
  mail_.origin.effect = "test/work@1";
  step(std::nullopt);
  expect_failed("native.bad_receipt");
  mail_.status = kernel::ReceiptStatus::kError;
  step(std::nullopt);
  expect_failed("native.bad_receipt");
  mail_.origin.effect = "test/play@1";
  step(std::nullopt);
  expect_failed("native.unknown_effect");
}

TEST_F(MachinesTest, a_receipt_is_typed_if_it_is_ok_and_an_error_otherwise) {
  mail_.kind = kernel::MailKind::kReceipt;
  mail_.origin.effect = "test/work@1";
  mail_.value = value(R"({"answer":"42"})");
  step(std::nullopt);
  EXPECT_EQ(json_of(*output_.result()), R"("42")");
  mail_.status = kernel::ReceiptStatus::kTimeout;
  mail_.value =
      value(R"({"code":"slow","message":"too slow","retryable":true,"details":[{"a":1}]})");
  step(std::nullopt);
  EXPECT_EQ(output_.fate(), kernel::Fate::kFailed);
  EXPECT_EQ(output_.error_code(), "slow");
  EXPECT_EQ(output_.error_message(), "too slow");
}

TEST_F(MachinesTest, a_rejected_receipt_without_a_step_fails_as_it_would_in_the_engine) {
  mail_.kind = kernel::MailKind::kRejected;
  mail_.origin.effect = "test/work@1";
  mail_.note = "expected text";
  step(std::nullopt);
  expect_failed(kernel::kInvalidPayload);
  EXPECT_EQ(output_.error_message(), "expected text");
  mail_.payload_size = codec::kMaxValueBytes + 1;
  step(std::nullopt);
  expect_failed(kernel::kPayloadTooLarge);
}

TEST_F(MachinesTest, the_context_gives_the_key_the_record_and_different_uuids) {
  mail_.value = value(R"({"id":9})");
  step(value(R"({"count":0})"));
  EXPECT_EQ(
      json_of(*output_.result()),
      R"({"key":9,"first":"2c34ce1d-f23b-438c-9abf-2a7f6437cca3","is_new":false,"record":17,"second":"08e00266-fff0-4acc-a497-4f22a53622a7"})");
}

}  // namespace
}  // namespace holdfast::native
