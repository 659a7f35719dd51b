// SPDX-License-Identifier: Apache-2.0
// Instances that run for others (kernel/children.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing_family.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::keep_number;
using testing::number_in;
using testing::opened;
using testing::run_child;
using testing::run_with;
using testing::stop_child;
using testing::value;

class ChildrenTest : public testing::FamilyTest {
 protected:
  // What a parent hears that asks for this, as long as it is the last that asks.
  std::string answer_to(const base::Bytes& key, std::string workflow, std::string schema,
                        const base::Bytes& event) {
    if (asked_ > 0) expect_replays();
    bench_.reset();
    told_.clear();
    parent_ = [=, this](const StepInput& input, StepOutput& output) {
      keep_number(output, 1);
      if (input.mail.kind == MailKind::kEvent)
        return run_with(output, workflow, key, schema, event);
      told_.push_back(testing::told_by(input.mail));
    };
    ++asked_;
    go("asks");
    return told_.empty() ? "" : told_.front();
  }
  int asked_ = 0;
};

TEST_F(ChildrenTest, a_child_is_started_in_the_record_that_opens_the_effect) {
  const Outcome outcome = go("p", 7);
  EXPECT_EQ(status_of(parent("p")), "waiting");
  ASSERT_NE(child("c"), nullptr);
  EXPECT_EQ(testing::json_of(child("c")->state), R"({"n":7})");
  ASSERT_TRUE(child("c")->run_by);
  EXPECT_EQ(child("c")->run_by->intent, *parent("p")->intents.begin());
  EXPECT_TRUE(outcome.commands.empty()) << "nobody else performs it";
  const auto record = read_record(outcome.record);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.size(), 2u);
  EXPECT_EQ(record->instances[0].opened.at(0).effect, "sys/workflow.run@1");
  EXPECT_EQ(record->instances[1].workflow, "fam/Child@1");
  EXPECT_EQ(record->instances[1].steps, 1u);
  expect_replays();
}

TEST_F(ChildrenTest, its_end_settles_the_effect_in_the_same_record_and_the_parent_hears_it) {
  go("p");
  const base::Hash intent = *parent("p")->intents.begin();
  const Outcome outcome = answer("c", 9);
  EXPECT_THAT(told_, ElementsAre("ok 9"));
  EXPECT_EQ(status_of(child("c")), "completed");
  EXPECT_EQ(status_of(parent("p")), "running");
  EXPECT_EQ(bench().world().open_intents(), 0u);
  const auto record = read_record(outcome.record);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.size(), 2u);
  EXPECT_EQ(record->instances[1].settled.at(0).intent, intent);
  EXPECT_EQ(record->instances[1].settled.at(0).status, "ok");
  expect_replays();
}

TEST_F(ChildrenTest, a_child_may_end_in_the_record_that_starts_it) {
  child_ = [](const StepInput&, StepOutput& output) {
    output.begin_result();
    codec::write_nat(output.bytes(), 3);
  };
  go("p");
  EXPECT_THAT(told_, ElementsAre("ok 3"));
  EXPECT_EQ(status_of(child("c")), "completed");
  expect_replays();
}

TEST_F(ChildrenTest, a_child_that_fails_answers_with_its_own_code) {
  child_ = [](const StepInput&, StepOutput& output) { output.fail("card.declined", "no money"); };
  go("p");
  EXPECT_THAT(told_, ElementsAre("error card.declined"));
  EXPECT_EQ(status_of(parent("p")), "running");
  expect_replays();
}

TEST_F(ChildrenTest, a_child_that_is_cancelled_says_so) {
  go("p");
  cancel("fam/Child@1", "c");
  go_on();
  EXPECT_THAT(told_, ElementsAre("cancelled workflow.cancelled"));
  expect_replays();
}

TEST_F(ChildrenTest, a_child_that_deletes_itself_says_so_and_its_key_is_free) {
  child_ = [](const StepInput&, StepOutput& output) { output.remove(); };
  go("p");
  EXPECT_THAT(told_, ElementsAre("error workflow.deleted"));
  EXPECT_EQ(child("c"), nullptr);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  expect_replays();
}

// An event waits for it when it deletes itself, and begins a life that is nobody's.
TEST_F(ChildrenTest, a_child_that_deletes_itself_and_begins_again_runs_for_nobody) {
  child_ = [](const StepInput& input, StepOutput& output) {
    if (input.mail.schema == "fam/Begin@1") return output.remove();
    keep_number(output, number_in(input));
  };
  parent_ = [this](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind != MailKind::kEvent) return told_.push_back(testing::told_by(input.mail));
    const bool is_first = number_in(input) == 0;
    output.begin_event(is_first ? "fam/Go@1" : "fam/Answer@1");
    testing::write(output.bytes(), testing::numbered_event(is_first ? "q" : "c", 5));
    if (is_first) run_child(output, "c");
  };
  go("p");
  EXPECT_THAT(told_, ElementsAre("error workflow.deleted"));
  ASSERT_NE(child("c"), nullptr);
  EXPECT_EQ(testing::json_of(child("c")->state), R"({"n":5})");
  EXPECT_FALSE(child("c")->run_by);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  expect_replays();
}

TEST_F(ChildrenTest, a_key_that_is_taken_starts_nothing_whoever_has_it) {
  go("p");
  go("q");
  EXPECT_THAT(told_, ElementsAre("error workflow.key_taken"));
  EXPECT_EQ(child("c")->run_by->intent, *parent("p")->intents.begin());
  answer("c", 1);
  EXPECT_THAT(told_, ElementsAre("error workflow.key_taken", "ok 1"));
  go("r");
  EXPECT_EQ(told_.back(), "error workflow.key_taken") << "it has ended, and is not forgotten";
  expect_replays();
}

TEST_F(ChildrenTest, an_instance_cannot_run_itself) {
  EXPECT_EQ(answer_to(testing::text_key_of("asks"), "fam/Parent@1", "fam/Go@1",
                      value(testing::numbered_event("asks", 0))),
            "error workflow.key_taken");
  expect_replays();
}

TEST_F(ChildrenTest, what_cannot_be_started_is_a_receipt_that_says_why) {
  const base::Bytes key = testing::text_key_of("k");
  const base::Bytes event = value(testing::numbered_event("k", 1));
  EXPECT_EQ(answer_to(key, "fam/Nobody@1", "fam/Begin@1", event), "error workflow.unknown");
  EXPECT_EQ(answer_to(key, "fam/Child@1", "fam/Nothing@1", event), "error workflow.bad_start");
  EXPECT_EQ(answer_to(key, "fam/Child@1", "fam/Go@1", event), "error workflow.bad_start")
      << "no arm of it";
  EXPECT_EQ(answer_to(key, "fam/Child@1", "fam/Begin@1", value("{}")), "error workflow.bad_start");
  EXPECT_EQ(answer_to(key, "fam/Child@1", "fam/Begin@1", {0xff}), "error workflow.bad_start");
  EXPECT_EQ(answer_to(value("7"), "fam/Child@1", "fam/Begin@1", event), "error workflow.bad_start");
  EXPECT_EQ(answer_to({}, "fam/Child@1", "fam/Begin@1", event), "error workflow.bad_start");
  EXPECT_EQ(answer_to(key, "fam/Lone@1", "fam/Begin@1", event), "error workflow.bad_start");
  EXPECT_EQ(answer_to(value("\"" + std::string(2 * kMaxKeyBytes, 'k') + "\""), "fam/Child@1",
                      "fam/Begin@1", event),
            "error workflow.bad_start");
  EXPECT_EQ(answer_to({}, "fam/Lone@1", "fam/Begin@1", event), "") << "that one runs";
  EXPECT_EQ(status_of(bench().find("fam/Lone@1", "")), "running");
  EXPECT_EQ(bench().world().open_intents(), 1u);
  expect_replays();
}

TEST_F(ChildrenTest, a_parent_that_hears_nothing_of_its_effects_has_its_child_all_the_same) {
  const base::Bytes go_bytes = value(testing::numbered_event("d", 1));
  EventArrived event{"fam/Go@1", go_bytes, {}};
  event.workflow = "fam/Deaf@1";
  const base::Bytes key = testing::text_key_of("d");
  event.key = key;
  bench().tick(event);
  EXPECT_EQ(status_of(bench().find("fam/Deaf@1", "\"d\"")), "waiting");
  answer("c", 1);
  EXPECT_EQ(status_of(bench().find("fam/Deaf@1", "\"d\"")), "running");
  EXPECT_TRUE(told_.empty());
  expect_replays();
}

TEST_F(ChildrenTest, nobody_outside_settles_it_or_says_how_it_goes) {
  go("p");
  const base::Hash intent = *parent("p")->intents.begin();
  const Outcome receipt = bench().receipt(intent, R"({"result":""})");
  ASSERT_TRUE(std::holds_alternative<Refused>(receipt.answer));
  EXPECT_EQ(std::get<Refused>(receipt.answer).code, base::ErrorCode::kConflict);
  const Outcome progress = bench().progress(intent, 1, "1");
  EXPECT_TRUE(std::holds_alternative<Refused>(progress.answer));
  answer("c", 2);
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().receipt(intent, "1").answer));
  expect_replays();
}

TEST_F(ChildrenTest, children_end_with_the_parent_however_it_ends) {
  for (const char* how : {"cancelled", "completed", "failed", "deleted"}) {
    const std::string id = how;
    bench_.reset();
    parent_ = [id](const StepInput& input, StepOutput& output) {
      if (number_in(input) == 0) {
        keep_number(output, 0);
        for (int i = 0; i < 3; ++i) run_child(output, id + std::to_string(i));
        return;
      }
      if (id == "failed") return output.fail("p.failed", "so it is");
      if (id == "deleted") return output.remove();
      output.begin_result();
      codec::write_null(output.bytes());
    };
    go(id);
    EXPECT_EQ(bench().world().open_intents(), 3u);
    if (id == "cancelled") {
      cancel("fam/Parent@1", id);
      EXPECT_TRUE(child(id + "0")->doomed) << "to cancel runs no code, and waits for no turns";
      go_on();
    } else {
      go(id, 1);
    }
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(status_of(child(id + std::to_string(i))), "cancelled") << id;
    EXPECT_EQ(bench().world().open_intents(), 0u);
    expect_replays();
  }
}

TEST_F(ChildrenTest, a_whole_family_ends_with_its_head) {
  child_ = [](const StepInput& input, StepOutput& output) {
    keep_number(output, 0);
    const std::uint64_t n = number_in(input);
    if (n == 0) return;
    run_child(output, "l" + std::to_string(n), n - 1);
    run_child(output, "r" + std::to_string(n) + "x", 0);
  };
  go("p", 5);
  EXPECT_EQ(bench().world().active_instances(), 1u + 1u + 2u * 5u);
  cancel("fam/Parent@1", "p");
  go_on();
  EXPECT_EQ(bench().world().active_instances(), 0u);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  expect_replays();
}

TEST_F(ChildrenTest, a_paused_child_keeps_its_parent_waiting_and_is_cancelled_with_it) {
  go("p");
  bench().control(Control::kPause, "fam/Child@1", "\"c\"");
  answer("c", 1);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(status_of(parent("p")), "waiting");
  cancel("fam/Parent@1", "p");
  go_on();
  EXPECT_EQ(status_of(child("c")), "cancelled");
  EXPECT_FALSE(child("c")->paused);
  expect_replays();
}

TEST_F(ChildrenTest, a_paused_parent_hears_of_it_when_it_goes_on) {
  go("p");
  bench().control(Control::kPause, "fam/Parent@1", "\"p\"");
  answer("c", 4);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().control(Control::kResume, "fam/Parent@1", "\"p\"");
  EXPECT_THAT(told_, ElementsAre("ok 4"));
  expect_replays();
}

TEST_F(ChildrenTest, what_comes_for_one_that_is_given_up_is_ignored) {
  go("p");
  cancel("fam/Parent@1", "p");
  bench().control(Control::kPause, "fam/Child@1", "\"c\"");
  const Outcome late = answer("c", 1);
  EXPECT_EQ(status_of(child("c")), "cancelled") << "its turn was before its mail";
  EXPECT_EQ(std::get<Accepted>(late.answer).deliveries, 1u);
  expect_replays();
}

TEST_F(ChildrenTest, a_parent_may_stop_its_own_child_and_no_other) {
  parent_ = [this](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind != MailKind::kEvent) return told_.push_back(testing::told_by(input.mail));
    if (number_in(input) == 0) return run_child(output, "c");
    stop_child(output, "c");
  };
  go("p");
  go("q", 1);
  EXPECT_THAT(told_, ElementsAre("ok no"));
  EXPECT_EQ(status_of(child("c")), "running");
  told_.clear();
  go("p", 1);
  EXPECT_THAT(told_, ElementsAre("ok yes", "cancelled workflow.cancelled"));
  EXPECT_EQ(status_of(child("c")), "cancelled");
  told_.clear();
  go("p", 1);
  EXPECT_THAT(told_, ElementsAre("ok no")) << "it has ended";
  expect_replays();
}

TEST_F(ChildrenTest, children_of_children_are_bounded_in_depth) {
  child_ = [this](const StepInput& input, StepOutput& output) {
    keep_number(output, 0);
    if (input.mail.kind != MailKind::kEvent) return told_.push_back(testing::told_by(input.mail));
    const std::uint64_t n = number_in(input);
    run_child(output, "d" + std::to_string(n), n + 1);
  };
  go("p");
  EXPECT_EQ(go_on(), 0u);
  EXPECT_EQ(bench().world().active_instances(), 1u + kMaxChildDepth);
  EXPECT_THAT(told_, ElementsAre("error workflow.too_deep"));
  expect_replays();
}

// Each child runs 60 others: what does not fit a tick waits for the next.
TEST_F(ChildrenTest, a_tick_starts_and_ends_no_more_than_its_budget) {
  const auto run_many = [](StepOutput& output, const std::string& name, std::uint64_t n) {
    for (int i = 0; i < 60; ++i) run_child(output, name + "." + std::to_string(i), n);
  };
  parent_ = [&](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind == MailKind::kEvent) run_many(output, "c", 1);
  };
  child_ = [&](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    const auto id = codec::View::of(input.mail.value).find("id");
    if (number_in(input) == 1) run_many(output, std::string(*id->text()), 0);
  };
  go("p");
  EXPECT_GT(go_on(), 1u);
  EXPECT_EQ(bench().world().active_instances(), 1u + 60u + 3600u);
  bench().put_away();
  cancel("fam/Parent@1", "p");
  EXPECT_GT(go_on(), 2u);
  EXPECT_EQ(bench().world().active_instances(), 0u);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  for (const base::Bytes& record : bench().journal()) EXPECT_LT(record.size(), kMaxTickOutputBytes);
  expect_replays();
}

TEST_F(ChildrenTest, a_snapshot_keeps_who_runs_for_whom_and_who_is_given_up) {
  go("p");
  bench().put_away();
  EXPECT_EQ(status_of(parent("p")), "waiting");
  ASSERT_TRUE(child("c")->run_by);
  EXPECT_EQ(child("c")->run_by->depth, 1u);
  cancel("fam/Parent@1", "p");
  bench().put_away();
  EXPECT_TRUE(child("c")->doomed);
  EXPECT_FALSE(child("c")->run_by);
  EXPECT_TRUE(bench().world().has_ready());
  go_on();
  EXPECT_EQ(status_of(child("c")), "cancelled");
  bench().put_away();
  EXPECT_EQ(status_of(child("c")), "cancelled");
  expect_replays();
}

// The turn of the parent that stops it is the last that its tick has room for.
TEST_F(ChildrenTest, one_that_was_stopped_and_then_given_up_is_so_behind_a_snapshot) {
  constexpr std::uint64_t kLines = 60;
  constexpr std::uint64_t kBehind = 2 * kMaxDeliveriesPerTick - 1 - (1 + kLines);
  const auto run_many = [](StepOutput& output, const std::string& name, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) run_child(output, name + "." + std::to_string(i), 0);
  };
  parent_ = [&](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind != MailKind::kEvent) return;
    if (number_in(input) == 0) return run_child(output, "c");
    if (number_in(input) == 1) return stop_child(output, "c");
    for (std::uint64_t line = 0; line < kLines; ++line) {
      const std::uint64_t behind = std::min(kLines, kBehind - std::min(kBehind, line * kLines));
      run_child(output, "line" + std::to_string(line), behind);
    }
  };
  child_ = [&](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    const auto id = codec::View::of(input.mail.value).find("id");
    run_many(output, std::string(*id->text()), number_in(input));
  };
  go("p");
  go("crowd", 2);
  ASSERT_TRUE(bench().world().has_ready());
  go("p", 1);
  ASSERT_TRUE(child("c")->doomed && child("c")->run_by);
  bench().put_away();
  cancel("fam/Parent@1", "p");
  bench().put_away();
  EXPECT_FALSE(child("c")->run_by);
  go_on();
  EXPECT_EQ(status_of(child("c")), "cancelled");
  expect_replays();
}

TEST_F(ChildrenTest, a_world_without_room_in_memory_comes_to_the_same) {
  options_.cells = CellLimits{0, 1};
  parent_ = [this](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind != MailKind::kEvent) return told_.push_back(testing::told_by(input.mail));
    for (int i = 0; i < 20; ++i) run_child(output, "c" + std::to_string(i));
  };
  go("p");
  bench().put_away();
  for (int i = 0; i < 10; ++i) {
    answer("c" + std::to_string(i), 1);
    bench().put_away();
  }
  EXPECT_EQ(told_.size(), 10u);
  cancel("fam/Parent@1", "p");
  bench().put_away();
  go_on();
  EXPECT_EQ(bench().world().active_instances(), 0u);
  expect_replays();
}

TEST_F(ChildrenTest, children_stand_in_the_way_of_a_manifest_that_touches_them) {
  go("p");
  std::string other = testing::kFamilyDefinitions;
  EXPECT_TRUE(std::holds_alternative<Unchanged>(bench().apply(other).answer));
  const std::string_view state = R"("fam/State@1","type":{"record":{)";
  other.insert(other.find(state) + state.size(), R"("m":{"option":{"nat":{}}},)");
  const Outcome blocked = bench().apply(other);
  ASSERT_TRUE(std::holds_alternative<Blocked>(blocked.answer));
  EXPECT_EQ(std::get<Blocked>(blocked.answer).count, 2u);
  cancel("fam/Parent@1", "p");
  go_on();
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().apply(other).answer));
  expect_replays();
}

TEST_F(ChildrenTest, a_parent_says_for_whom_it_waits) {
  go("p");
  const auto why = bench().world().why("fam/Parent@1", testing::text_key_of("p"));
  ASSERT_TRUE(why);
  ASSERT_EQ(why->size(), 1u);
  const auto& reason = std::get<WaitsForReceipt>(why->at(0));
  EXPECT_EQ(reason.effect, "sys/workflow.run@1");
  EXPECT_EQ(reason.child_workflow, "fam/Child@1");
  EXPECT_EQ(testing::json_of(reason.child_key), "\"c\"");
  cancel("fam/Parent@1", "p");
  const auto given_up = bench().world().why("fam/Child@1", testing::text_key_of("c"));
  ASSERT_TRUE(given_up);
  EXPECT_TRUE(std::holds_alternative<WaitsForTurn>(given_up->at(0)));
}

TEST_F(ChildrenTest, a_child_is_part_of_the_trace_of_its_parent) {
  base::Bytes trace(25, 1);
  const base::Bytes bytes = value(testing::numbered_event("p", 0));
  EventArrived event{"fam/Go@1", bytes, {}};
  event.trace = trace;
  bench().tick(event);
  EXPECT_EQ(child("c")->trace, trace);
  bench().put_away();
  EXPECT_EQ(child("c")->trace, trace);
  EXPECT_TRUE(child("c")->run_by);
}

}  // namespace
}  // namespace holdfast::kernel
