// SPDX-License-Identifier: Apache-2.0
#include "node/intervene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing_world.h"

namespace holdfast::node {
namespace {

using kernel::Accepted;
using kernel::Control;
using kernel::Refused;
using kernel::StepInput;
using kernel::StepOutput;
using kernel::testing::opened;

// A world whose instances wait for a result that ends the process when a step takes it.
class InterveneTest : public testing::LabWorldTest {
 protected:
  void SetUp() override {
    machines_ = {{"keyed",
                  [this](const StepInput& input, StepOutput& output) {
                    if (input.mail.kind != kernel::MailKind::kEvent) ++ends_;
                    kernel::testing::work(input, output);
                  }},
                 {"numbered", kernel::testing::keep},
                 {"single", kernel::testing::keep}};
    begin();
    for (const char* id : {"a", "b"}) intents_.push_back(opened(send(id, 1)).at(0));
  }

  base::Result<kernel::Answer> control(Control control, std::string_view key_json) {
    const base::Bytes key = kernel::testing::value(key_json);
    return intervene(open_->world(), open_->journal(), *random_, ++now_s_ * 1'000'000'000,
                     {control, "lab/Keyed@1", key, "it ends the world"});
  }
  kernel::Outcome result_of(const base::Hash& intent) {
    const base::Bytes payload = kernel::testing::value(R"({"ok":true})");
    kernel::Tick tick;
    tick.time_ns = ++now_s_ * 1'000'000'000;
    tick.input = kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kOk, payload, {}, {}};
    return open_->world().reduce(tick);
  }

  std::vector<base::Hash> intents_;
  int ends_ = 0;
};

TEST_F(InterveneTest, a_world_that_a_step_ends_is_got_hold_of) {
  static_cast<void>(result_of(intents_[0]));
  EXPECT_EQ(std::exchange(ends_, 0), 1);
  open();
  EXPECT_TRUE(std::holds_alternative<Accepted>(*control(Control::kCancel, R"("a")")));
  EXPECT_TRUE(std::holds_alternative<Accepted>(*control(Control::kPause, R"("b")")));
  open();
  EXPECT_EQ(open_->restoring().replayed, 5u) << "it is durable";
  EXPECT_EQ(open_->world().open_intents(), 1u);
  for (const base::Hash& intent : intents_) EXPECT_FALSE(result_of(intent).failure);
  EXPECT_EQ(ends_, 0) << "neither what has ended nor what is paused takes its result";
}

TEST_F(InterveneTest, what_is_refused_is_answered_and_leaves_no_record) {
  EXPECT_TRUE(std::holds_alternative<Refused>(*control(Control::kCancel, R"("c")")));
  EXPECT_EQ(open_->journal().last(), 3u);
  EXPECT_EQ(control(Control::kResume, R"("a")").error().code(), base::ErrorCode::kInvalid);
}

TEST_F(InterveneTest, a_world_that_runs_ahead_of_its_journal_is_not_touched) {
  const base::Bytes event = kernel::testing::value(R"({"id":"c","n":1})");
  kernel::Tick tick;
  tick.input = kernel::EventArrived{"lab/Go@1", event, {}};
  ASSERT_FALSE(open_->world().reduce(tick).record.empty());
  EXPECT_EQ(control(Control::kCancel, R"("a")").error().code(), base::ErrorCode::kConflict);
}

TEST_F(InterveneTest, an_answer_that_does_not_become_durable_fails_the_world) {
  disk_->fail_call(0, env::DiskFault::kIoError);
  ASSERT_FALSE(control(Control::kCancel, R"("a")"));
  EXPECT_TRUE(result_of(intents_[1]).failure);
  EXPECT_EQ(open_->world().snapshot().error().code(), base::ErrorCode::kIo);
}

}  // namespace
}  // namespace holdfast::node
