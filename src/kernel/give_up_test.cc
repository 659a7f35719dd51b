// SPDX-License-Identifier: Apache-2.0
// Steps that give up effects of their instance (StepOutput::stop_effects).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing_family.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using testing::open;
using testing::opened;
using testing::state;

// Who hears 1 opens three effects, two of them under one reference; who hears 3 gives these up.
// What 2 does the test says.
class GiveUpTest : public testing::LabTest {
 protected:
  GiveUpTest() {
    keyed_ = [this](const StepInput& input, StepOutput& output) {
      state(output, 1);
      if (input.mail.kind == MailKind::kReceipt) {
        heard_.push_back(input.mail.origin.issuer_ref + " " + testing::told_by(input.mail));
        return;
      }
      if (testing::number(input) == 2) return then_(output);
      if (testing::number(input) == 3) return output.stop_effects("x");
      open(output, "lab/work@1", R"({"a":1})", {}, "x");
      open(output, "lab/work@1", R"({"a":2})", {}, "y");
      open(output, "lab/work@1", R"({"a":3})", {}, "x");
    };
    begin(testing::kToKeyed);
  }
  std::vector<base::Hash> stopped(const Outcome& outcome) {
    std::vector<base::Hash> all;
    for (const Command& command : outcome.commands) {
      if (const auto* stop = std::get_if<StopIntent>(&command)) all.push_back(stop->intent);
    }
    return all;
  }

  std::function<void(StepOutput&)> then_;
  std::vector<std::string> heard_;
};

TEST_F(GiveUpTest, what_is_open_under_a_reference_settles_in_the_record_and_is_stopped) {
  then_ = [](StepOutput& output) { output.stop_effects("x"); };
  const auto intents = opened(send("a", 1));
  const Outcome outcome = send("a", 2);
  EXPECT_THAT(stopped(outcome), ElementsAre(intents[0], intents[2]));
  EXPECT_THAT(heard_, ElementsAre("x cancelled effect.given_up", "x cancelled effect.given_up"));
  EXPECT_THAT(keyed("a")->intents, ElementsAre(intents[1]));
  EXPECT_EQ(bench().world().open_intents(), 1u);
  const auto record = read_record(outcome.record);
  ASSERT_TRUE(record);
  const InstanceView& touched = record->instances.at(0);
  EXPECT_EQ(touched.steps, 3u);
  ASSERT_EQ(touched.settled.size(), 2u);
  EXPECT_EQ(touched.settled[0].intent, intents[0]);
  EXPECT_EQ(touched.settled[0].status, "cancelled");
  EXPECT_EQ(touched.settled[1].intent, intents[2]);
  bench().expect_replays();
}

TEST_F(GiveUpTest, a_receipt_or_progress_that_comes_later_changes_nothing) {
  then_ = [](StepOutput& output) { output.stop_effects("y"); };
  const auto intents = opened(send("a", 1));
  send("a", 2);
  const Outcome late = bench().receipt(intents[1], R"({"ok":true})");
  ASSERT_TRUE(std::holds_alternative<Repeated>(late.answer));
  EXPECT_EQ(std::get<Repeated>(late.answer).settled, ReceiptStatus::kCancelled);
  EXPECT_TRUE(late.record.empty());
  EXPECT_EQ(heard_.size(), 1u);
  bench().expect_replays();
}

TEST_F(GiveUpTest, an_effect_of_the_same_step_is_not_meant) {
  then_ = [](StepOutput& output) {
    open(output, "lab/work@1", R"({"a":4})", {}, "x");
    output.stop_effects("x");
  };
  const auto intents = opened(send("a", 1));
  const Outcome outcome = send("a", 2);
  EXPECT_EQ(stopped(outcome).size(), 2u);
  EXPECT_THAT(keyed("a")->intents, ElementsAre(intents[1], opened(outcome).at(0)));
  bench().expect_replays();
}

TEST_F(GiveUpTest, a_reference_that_nothing_is_open_under_is_passed_over) {
  then_ = [](StepOutput& output) {
    output.stop_effects("z");
    output.stop_effects("\xff");
    output.stop_effects("");
  };
  send("a", 1);
  send("b", 1);
  EXPECT_TRUE(send("a", 2).commands.empty());
  EXPECT_EQ(keyed("a")->intents.size(), 3u);
  // Neither are those of others.
  send("b", 3);
  EXPECT_EQ(keyed("a")->intents.size(), 3u);
  bench().expect_replays();
}

TEST_F(GiveUpTest, an_instance_that_ends_stops_each_once_and_hears_nothing) {
  then_ = [](StepOutput& output) {
    output.stop_effects("x");
    testing::complete(output, "7");
  };
  const auto intents = opened(send("a", 1));
  EXPECT_THAT(stopped(send("a", 2)), ElementsAre(intents[0], intents[1], intents[2]));
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(keyed("a")->phase, Phase::kCompleted);
  bench().expect_replays();
}

TEST_F(GiveUpTest, a_step_that_is_not_good_gives_up_nothing_of_its_own) {
  then_ = [](StepOutput& output) {
    for (std::size_t i = 0; i <= kMaxOpenIntents; ++i) output.stop_effects("x");
  };
  send("a", 1);
  send("a", 2);
  EXPECT_EQ(error_of(keyed("a")), "step.too_many_stops");
  EXPECT_EQ(bench().world().open_intents(), 0u) << "it failed, and so gave up all";
  EXPECT_TRUE(heard_.empty());
  bench().expect_replays();
}

TEST_F(GiveUpTest, what_was_given_up_is_not_open_in_a_snapshot) {
  then_ = [](StepOutput& output) { output.stop_effects("x"); };
  const auto intents = opened(send("a", 1));
  bench().put_away();
  EXPECT_EQ(stopped(send("a", 2)).size(), 2u) << "they come out of the index";
  bench().put_away();
  EXPECT_THAT(keyed("a")->intents, ElementsAre(intents[1]));
  std::vector<base::Hash> open;
  ASSERT_TRUE(bench().world().visit_intents([&](const base::Hash& intent, const Intent&) {
    open.push_back(intent);
    return true;
  }));
  EXPECT_THAT(open, ElementsAre(intents[1]));
  bench().expect_replays();
}

// One whose event type is a record hears of none of its effects.
TEST_F(GiveUpTest, who_hears_no_receipts_gives_up_all_the_same) {
  begin(testing::kToSingle);
  int steps = 0;
  single_ = [&](const StepInput&, StepOutput& output) {
    state(output, 1);
    if (steps++ == 0) return open(output, "lab/work@1", R"({"a":1})", {}, "x");
    output.stop_effects("x");
  };
  const auto intents = opened(send("a", 1));
  EXPECT_EQ(stopped(send("a", 2)), intents);
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(bench().world().open_intents(), 0u);
}

using GiveUpChildTest = testing::FamilyTest;

TEST_F(GiveUpChildTest, a_child_is_cancelled_and_its_own_with_it) {
  parent_ = [this](const StepInput& input, StepOutput& output) {
    testing::keep_number(output, 1);
    if (input.mail.kind != MailKind::kEvent) return told_.push_back(testing::told_by(input.mail));
    if (testing::number_in(input) == 1) return testing::run_child(output, "c", 1, "x");
    output.stop_effects("x");
  };
  child_ = [](const StepInput& input, StepOutput& output) {
    testing::keep_number(output, 1);
    if (testing::number_in(input) == 1) testing::run_child(output, "d", 2);
  };
  go("p", 1);
  EXPECT_EQ(status_of(child("d")), "running");
  const base::Hash intent = *parent("p")->intents.begin();
  const Outcome outcome = go("p", 2);
  EXPECT_TRUE(outcome.commands.empty()) << "nobody else performs it";
  EXPECT_THAT(told_, ElementsAre("cancelled effect.given_up"));
  const auto record = read_record(outcome.record);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->instances.at(0).settled.at(0).intent, intent);
  EXPECT_EQ(status_of(child("c")), "cancelled");
  EXPECT_EQ(status_of(child("d")), "cancelled");
  EXPECT_EQ(status_of(parent("p")), "running");
  EXPECT_EQ(bench().world().open_intents(), 0u);
  expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
