// SPDX-License-Identifier: Apache-2.0
// Defects that systems of this kind are known to have, each with a test that shows it is not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::emit;
using ::testing::HasSubstr;
using testing::json_of;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::LabTest;
using testing::number;
using testing::open;
using testing::opened;
using testing::state;
using testing::value;

class KnownDefectsTest : public LabTest {
 protected:
  // The intents that replaying the journal opens.
  std::vector<base::Hash> replayed_intents() {
    std::vector<base::Hash> all;
    World world(machines_, bench().blobs());
    for (const base::Bytes& record : bench().journal()) {
      const auto outcome = world.replay(record);
      EXPECT_TRUE(outcome) << outcome.error().to_string();
      if (!outcome) break;
      for (const base::Hash& intent : opened(*outcome)) all.push_back(intent);
    }
    return all;
  }
};

TEST_F(KnownDefectsTest,
       a_cascade_whose_second_workflow_opens_an_effect_replays_to_the_same_intent) {
  begin(std::string(kToKeyed) +
        R"(,{"event":"lab/Stop@1","workflow":"lab/Keyed@1","key_field":"id"})");
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, 1);
    if (input.mail.schema == "lab/Go@1") return emit(output, "lab/Stop@1", R"({"id":"second"})");
    open(output, "sys/timer.set@1",
         R"({"deliver_at_ns":)" + std::to_string(input.context.time_ns() + 5) + "}");
  };
  const std::vector<base::Hash> live = opened(send("first", 1));
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(replayed_intents(), live);
  World again = bench().replayed();
  EXPECT_NE(*again.find_intent(live[0]), nullptr);
  EXPECT_EQ(again.open_intents(), 1u) << "no phantom";
}

TEST_F(KnownDefectsTest, one_event_to_an_unkeyed_and_two_differently_keyed_workflows_replays) {
  keyed_ = numbered_ = single_ = testing::work;
  begin(std::string(kToSingle) + "," + kToKeyed + "," + kToNumbered);
  const std::vector<base::Hash> live = opened(send("a", 7));
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(replayed_intents(), live);
  bench().expect_replays();
}

TEST_F(KnownDefectsTest, a_faulted_receipt_replays_as_a_fault) {
  begin(kToKeyed);
  std::vector<MailKind> seen;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    seen.push_back(input.mail.kind);
    testing::work(input, output);
  };
  bench().receipt(opened(send("a", 1)).at(0), R"({"ok":"perhaps"})");
  const std::vector<MailKind> live = std::exchange(seen, {});
  EXPECT_EQ(live.back(), MailKind::kRejected);
  bench().replayed();
  EXPECT_EQ(seen, live);
}

TEST_F(KnownDefectsTest, code_that_misbehaves_and_late_receipts_harm_nobody_else) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (json_of(input.context.key()) == R"("bad")") return output.bytes().push(0xff);
    testing::work(input, output);
  };
  const base::Hash good = opened(send("good", 1)).at(0);
  send("bad", 1);
  EXPECT_EQ(keyed("bad")->status(), Status::kFailed);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("good")");
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().receipt(good, R"({"ok":true})").answer));
  EXPECT_TRUE(std::holds_alternative<Refused>(
      bench().receipt(base::sha256(base::as_bytes("who")), R"({"ok":true})").answer));
  EXPECT_EQ(opened(send("next", 1)).size(), 1u) << "the world goes on";
}

TEST_F(KnownDefectsTest, timers_are_known_again_after_a_restart) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 0);
    open(output, "sys/timer.set@1", R"({"deliver_at_ns":123})");
  };
  const base::Hash timer = opened(send("a", 1)).at(0);
  bench().put_away();
  World& world = bench().world();
  std::vector<base::Hash> found;
  ASSERT_TRUE(world.visit_intents([&](const base::Hash& hash, const Intent& intent) {
    EXPECT_EQ(world.program().effect(intent.effect()).executor.kind, "timer");
    found.push_back(hash);
    return true;
  }));
  EXPECT_EQ(found, std::vector{timer});
}

TEST_F(KnownDefectsTest, a_timer_can_be_cancelled) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 0);
    open(output, "sys/timer.set@1", R"({"deliver_at_ns":123})");
  };
  const base::Hash timer = opened(send("a", 1)).at(0);
  const Outcome outcome = bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  EXPECT_EQ(std::get<StopIntent>(outcome.commands.at(0)).intent, timer);
}

TEST_F(KnownDefectsTest, an_error_receipt_fits_whatever_the_receipt_schema_of_the_effect_is) {
  begin(kToKeyed);
  keyed_ = testing::work;
  bench().receipt(
      opened(send("a", 1)).at(0),
      R"({"code":"executor.gone","message":"it ended","retryable":true,"details":{"x":1}})",
      ReceiptStatus::kError);
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted) << "delivered, not a fault";
  EXPECT_THAT(json_of(keyed("a")->outcome), HasSubstr("executor.gone"));
}

TEST_F(KnownDefectsTest, a_full_mailbox_refuses_events_but_always_admits_receipts) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 1)).at(0);
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  while (std::holds_alternative<Accepted>(send("a", 2).answer)) {
  }
  EXPECT_EQ(keyed("a")->mail.size(), kMaxMailPerInstance);
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().receipt(intent, R"({"ok":true})").answer));
  EXPECT_EQ(keyed("a")->mail.size(), kMaxMailPerInstance + 1);
}

TEST_F(KnownDefectsTest, a_completed_instance_ignores_later_events_and_stays_completed) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (number(input) == 1) return testing::complete(output, "1");
    state(output, 2);
    open(output, "lab/work@1", R"({"a":1})");
  };
  send("a", 1);
  EXPECT_TRUE(send("a", 2).commands.empty());
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
}

TEST_F(KnownDefectsTest, a_state_that_does_not_fit_its_schema_is_never_kept) {
  begin(kToKeyed);
  send("a", 5);
  keyed_ = [](const StepInput&, StepOutput& output) {
    output.begin_state();
    testing::write(output.bytes(), R"({"n":"five"})");
  };
  send("a", 6);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":5})");
  EXPECT_EQ(error_of(keyed("a")), "step.bad_state");
}

TEST_F(KnownDefectsTest, one_busy_instance_does_not_hold_up_the_others) {
  begin(std::string(kToKeyed));
  std::vector<std::string> order;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    order.push_back(json_of(input.context.key()));
    state(output, 0);
    if (number(input) != 0) return;
    for (std::uint64_t i = 1; i <= 200; ++i) emit(output, "lab/Go@1", go("busy", i));
    emit(output, "lab/Go@1", go("other", 1));
  };
  send("start", 0);
  const auto other = std::find(order.begin(), order.end(), R"("other")");
  EXPECT_LE(other - order.begin(), 2) << "its turn comes after one message of the busy one";
}

TEST_F(KnownDefectsTest, a_proposal_survives_a_restart) {
  begin(kToKeyed);
  const base::Bytes document = value(testing::lab(kToSingle));
  bench().tick(Propose{document, "keep me"});
  bench().put_away();
  ASSERT_EQ(bench().world().proposals().size(), 1u);
  EXPECT_EQ(bench().world().proposals()[0].description, "keep me");
  EXPECT_EQ(bench().replayed().proposals().size(), 1u);
}

}  // namespace
}  // namespace holdfast::kernel
