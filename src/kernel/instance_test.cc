// SPDX-License-Identifier: Apache-2.0
// Design: "Instances".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::complete;
using ::testing::ElementsAre;
using testing::emit;
using ::testing::HasSubstr;
using testing::json_of;
using testing::kToKeyed;
using testing::LabTest;
using testing::number;
using testing::open;
using testing::opened;
using testing::state;

class InstanceTest : public LabTest {
 protected:
  // 0: opens an effect, 1: completes, 2: fails, 3: deletes itself, more: nothing.
  void SetUp() override {
    keyed_ = [this](const StepInput& input, StepOutput& output) {
      ++steps_;
      if (input.mail.kind != MailKind::kEvent) return state(output, 77);
      switch (number(input)) {
        case 0: state(output, 0); return open(output, "lab/work@1", R"({"a":1})");
        case 1: return complete(output, R"("done")");
        case 2: return output.fail("f", "why");
        case 3: return output.remove();
        default: return state(output, number(input));
      }
    };
    begin(std::string(kToKeyed) + "," + testing::kStopToKeyed);
  }
  Outcome control(Control control, std::string_view id = "a") {
    return bench().control(control, "lab/Keyed@1", "\"" + std::string(id) + "\"");
  }
  std::vector<Reason> why() {
    return *bench().world().why("lab/Keyed@1", testing::value(R"("a")"));
  }
  int steps_ = 0;
};

TEST_F(InstanceTest, is_running_or_waiting_or_has_ended) {
  send("a", 9);
  EXPECT_EQ(keyed("a")->status(), Status::kRunning);
  send("a", 0);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  send("b", 1);
  EXPECT_EQ(keyed("b")->status(), Status::kCompleted);
  send("c", 2);
  EXPECT_EQ(keyed("c")->status(), Status::kFailed);
  control(Control::kCancel);
  EXPECT_EQ(keyed("a")->status(), Status::kCancelled);
}

TEST_F(InstanceTest, terminal_is_a_fence_later_mail_is_recorded_as_ignored_not_run) {
  for (const std::uint64_t ending : {1u, 2u}) {
    const std::string id = std::to_string(ending);
    send(id, ending);
    const int before = steps_;
    const Phase phase = keyed(id)->phase;
    const base::Bytes result = keyed(id)->outcome;
    const Outcome outcome = send(id, 0);
    EXPECT_EQ(std::get<Accepted>(outcome.answer).ignored, 1u);
    EXPECT_EQ(std::get<Accepted>(outcome.answer).deliveries, 0u);
    EXPECT_FALSE(outcome.record.empty());
    EXPECT_EQ(steps_, before);
    EXPECT_EQ(keyed(id)->phase, phase);
    EXPECT_EQ(keyed(id)->outcome, result);
    EXPECT_TRUE(outcome.commands.empty());
  }
  bench().expect_replays();
}

TEST_F(InstanceTest,
       a_null_state_deletes_the_cell_and_settles_its_intents_and_the_key_may_begin_again) {
  const base::Hash intent = opened(send("a", 0)).at(0);
  const Outcome outcome = send("a", 3);
  EXPECT_EQ(keyed("a"), nullptr);
  EXPECT_EQ(std::get<StopIntent>(outcome.commands.at(0)).intent, intent);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  EXPECT_THAT(json_of(outcome.record), HasSubstr(R"("deleted")"));
  EXPECT_TRUE(std::holds_alternative<Repeated>(bench().receipt(intent, R"({"ok":true})").answer));
  bench().put_away();
  EXPECT_EQ(keyed("a"), nullptr);
  send("a", 9);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":9})");
  bench().expect_replays();
}

TEST_F(InstanceTest, events_that_wait_when_an_instance_deletes_itself_begin_it_again) {
  std::vector<std::string> states;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    states.push_back(input.state ? json_of(*input.state) : "none");
    if (number(input) == 3) return output.remove();
    state(output, number(input));
    if (number(input) != 100) return;
    emit(output, "lab/Go@1", go("a", 3));
    emit(output, "lab/Go@1", go("a", 7));
  };
  send("a", 100);
  EXPECT_THAT(states, ElementsAre("none", R"({"n":100})", "none"));
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":7})");
  bench().expect_replays();
}

// What a record says of "a": record before, status, whether there is a state.
std::vector<std::string> lives(const Outcome& outcome) {
  std::vector<std::string> all;
  const auto record = read_record(outcome.record);
  EXPECT_TRUE(record) << record.error().to_string();
  for (const InstanceView& instance : record->instances) {
    if (json_of(instance.key) != R"("a")") continue;
    all.push_back(std::to_string(instance.previous) + " " + std::string(instance.status) +
                  (instance.state.empty() ? "" : " " + json_of(instance.state)));
  }
  return all;
}

TEST_F(InstanceTest, a_record_says_that_an_instance_was_deleted_and_what_came_before) {
  struct Case {
    const char* what;
    std::vector<std::uint64_t> emitted;  // to itself, in the step before
    std::vector<std::string> said;
  };
  // 3 deletes, everything else is kept as state.
  const Case cases[] = {
      {"alone", {3}, {"2 deleted"}},
      {"events wait for it", {3, 7}, {"2 deleted", R"(2 running {"n":7})"}},
      {"again and again", {3, 3, 7, 3}, {"2 deleted", "2 deleted", "2 deleted"}},
  };
  for (const Case& each : cases) {
    begin(kToKeyed);
    keyed_ = [&](const StepInput& input, StepOutput& output) {
      if (number(input) == 3) return output.remove();
      state(output, number(input));
      if (number(input) != 100) return;
      for (const std::uint64_t n : each.emitted) emit(output, "lab/Go@1", go("a", n));
    };
    send("a", 9);
    EXPECT_EQ(lives(send("a", 100)), each.said) << each.what;
    bench().expect_replays();
  }
}

TEST_F(InstanceTest, a_key_that_begins_again_in_the_same_record_names_what_was_before) {
  begin(kToKeyed);
  // b hears of it after a is gone, and writes to a.
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    if (number(input) == 3) {
      emit(output, "lab/Go@1", go("b", 5));
      return output.remove();
    }
    state(output, number(input));
    if (number(input) == 5) emit(output, "lab/Go@1", go("a", 6));
  };
  send("a", 9);
  EXPECT_THAT(lives(send("a", 3)), ElementsAre("2 deleted", R"(2 running {"n":6})"));
  EXPECT_THAT(lives(send("a", 8)), ElementsAre(R"(3 running {"n":8})"));
  bench().expect_replays();
}

TEST_F(InstanceTest, a_life_whose_turn_has_not_come_when_the_tick_ends_has_its_entry_all_the_same) {
  begin(kToKeyed);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = number(input);
    if (n == 3) return output.remove();
    state(output, n);
    if (n == 50) {  // so much that the tick ends
      output.begin_annotation();
      testing::write(output.bytes(), R"({"note":")" + std::string(1'000'000, 'x') + R"("})");
    }
    if (n != 100) return;
    emit(output, "lab/Go@1", go("a", 3));
    emit(output, "lab/Go@1", go("a", 7));
    for (int i = 0; i < 10; ++i) emit(output, "lab/Go@1", go("x" + std::to_string(i), 50));
  };
  send("a", 9);
  EXPECT_THAT(lives(send("a", 100)), ElementsAre("2 deleted", "2 running"));
  bench().put_away();
  EXPECT_EQ(keyed("a")->mail.size(), 1u);
  EXPECT_THAT(lives(bench().tick(Continue{})), ElementsAre(R"(3 running {"n":7})"));
  bench().expect_replays();
}

TEST_F(InstanceTest, an_instance_that_was_never_there_may_delete_itself) {
  const Outcome outcome = send("a", 3);
  EXPECT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  EXPECT_EQ(keyed("a"), nullptr);
  bench().expect_replays();
}

TEST_F(InstanceTest, results_of_completed_instances_stay_readable) {
  send("a", 1);
  bench().put_away();
  EXPECT_EQ(json_of(keyed("a")->outcome), R"("done")");
}

TEST_F(InstanceTest, cancel_settles_open_intents_and_asks_executors_to_stop) {
  const base::Hash intent = opened(send("a", 0)).at(0);
  const Outcome outcome = control(Control::kCancel);
  EXPECT_EQ(std::get<StopIntent>(outcome.commands.at(0)).intent, intent);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  EXPECT_THAT(json_of(outcome.record), HasSubstr("because"));
  const Outcome late = bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(std::get<Repeated>(late.answer).settled, ReceiptStatus::kCancelled);
  EXPECT_EQ(std::get<Refused>(control(Control::kCancel).answer).code, base::ErrorCode::kConflict);
  bench().expect_replays();
}

TEST_F(InstanceTest, paused_lies_over_the_others_mail_waits_and_goes_on_when_it_is_resumed) {
  const base::Hash intent = opened(send("a", 0)).at(0);
  control(Control::kPause);
  const int before = steps_;
  send("a", 9);
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(steps_, before);
  EXPECT_TRUE(keyed("a")->paused);
  EXPECT_EQ(keyed("a")->status(), Status::kRunning) << "the effect has settled all the same";
  EXPECT_EQ(std::get<Refused>(control(Control::kPause).answer).code, base::ErrorCode::kConflict);
  bench().put_away();
  EXPECT_EQ(std::get<IsPaused>(why().at(0)).mail, 2u);
  control(Control::kResume);
  EXPECT_EQ(steps_, before + 2);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":77})");
  EXPECT_EQ(std::get<Refused>(control(Control::kResume).answer).code, base::ErrorCode::kConflict);
  bench().expect_replays();
}

TEST_F(InstanceTest, a_paused_instance_can_be_cancelled) {
  send("a", 0);
  control(Control::kPause);
  control(Control::kCancel);
  EXPECT_EQ(keyed("a")->status(), Status::kCancelled);
  EXPECT_FALSE(keyed("a")->paused);
}

// A world whose next step ends it: somebody has to get hold of the instance before that.
TEST_F(InstanceTest, to_cancel_or_pause_no_code_is_run_and_what_is_left_over_stays) {
  bool gives_up = false;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    if (gives_up) output.give_up();
    state(output, number(input));
    const auto id = codec::View::of(input.mail.value).find("id")->text();
    emit(output, "lab/Go@1", go(*id, number(input) + 1));  // for ever
  };
  send("a", 0);
  send("b", 0);
  gives_up = true;
  for (const auto& [what, id] : {std::pair(Control::kPause, "a"), {Control::kCancel, "b"}}) {
    const Outcome outcome = control(what, id);
    EXPECT_FALSE(outcome.failure) << id;
    EXPECT_TRUE(std::holds_alternative<ContinueSoon>(outcome.commands.at(0)));
  }
  EXPECT_FALSE(bench().tick(Continue{}).failure) << "nobody is left who could step";
  EXPECT_EQ(keyed("a")->mail.size(), 1u);
  gives_up = false;
  bench().expect_replays();
  gives_up = true;
  EXPECT_FALSE(control(Control::kResume).failure);
  EXPECT_TRUE(keyed("a")->paused) << "its step cannot be run";
}

TEST_F(InstanceTest, control_of_what_is_not_there_is_refused) {
  EXPECT_EQ(std::get<Refused>(control(Control::kCancel, "nobody").answer).code,
            base::ErrorCode::kNotFound);
  EXPECT_EQ(std::get<Refused>(bench().control(Control::kPause, "lab/None@1", "").answer).code,
            base::ErrorCode::kNotFound);
  send("a", 9);
  EXPECT_TRUE(std::holds_alternative<Refused>(
      bench()
          .tick(ControlRequested{Control::kPause, "lab/Keyed@1", testing::value(R"("a")"), "\xff"})
          .answer));
}

// "Each non-terminal instance can say what it waits for ... and an instance that waits for nothing
// is reported."

TEST_F(InstanceTest, why_names_the_intent_the_effect_and_since_when) {
  const base::Hash intent = opened(send("a", 0)).at(0);
  bench().put_away();
  const auto reasons = why();
  ASSERT_EQ(reasons.size(), 1u);
  const auto& reason = std::get<WaitsForReceipt>(reasons[0]);
  EXPECT_EQ(reason.intent, intent);
  EXPECT_EQ(reason.effect, "lab/work@1");
  EXPECT_EQ(reason.executor, "worker");
  EXPECT_EQ(reason.opened_at, 2u);
  EXPECT_EQ(reason.since_ns, 2'000'000'000u);
  EXPECT_FALSE(reason.due_ns);
}

TEST_F(InstanceTest, why_says_when_a_timer_is_due) {
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 0);
    open(output, "sys/timer.set@1", R"({"deliver_at_ns":123})");
  };
  const Outcome outcome = send("a", 0);
  EXPECT_EQ(std::get<OpenIntent>(outcome.commands.at(0)).effect->executor.kind, "timer");
  EXPECT_EQ(std::get<WaitsForReceipt>(why().at(0)).due_ns, 123u);
}

TEST_F(InstanceTest, why_names_the_events_that_would_wake_it) {
  send("a", 9);
  EXPECT_THAT(std::get<WaitsForEvent>(why().at(0)).schemas, ElementsAre("lab/Go@1", "lab/Stop@1"));
}

TEST_F(InstanceTest, why_says_that_mail_waits_for_its_turn) {
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, 0);
    emit(output, "lab/Go@1", go("a", number(input)));
  };
  send("a", 9);
  EXPECT_EQ(std::get<WaitsForTurn>(why().at(0)).mail, 1u);
}

TEST_F(InstanceTest, an_instance_that_waits_for_nothing_says_so) {
  begin("");  // no routes
  keyed_ = testing::work;
  const base::Bytes event = testing::value(go("a", 1));
  const base::Bytes key = testing::value(R"("a")");
  const Outcome outcome = bench().tick(EventArrived{"lab/Go@1", event, "", "lab/Keyed@1", key});
  EXPECT_TRUE(std::holds_alternative<WaitsForReceipt>(why().at(0)));
  keyed_ = testing::keep;
  bench().receipt(opened(outcome).at(0), R"({"ok":true})");
  ASSERT_EQ(why().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<WaitsForNothing>(why()[0]));
  // An event that names it wakes it: it says so because nobody is bound to send one.
  keyed_ = testing::work;
  const Outcome woken = bench().tick(EventArrived{"lab/Go@1", event, "", "lab/Keyed@1", key});
  EXPECT_EQ(opened(woken).size(), 1u);
  EXPECT_TRUE(std::holds_alternative<WaitsForReceipt>(why().at(0)));
}

TEST_F(InstanceTest, one_that_is_paused_or_whose_workflow_hears_events_does_not_wait_for_nothing) {
  send("a", 9);
  EXPECT_FALSE(std::holds_alternative<WaitsForNothing>(why().at(0)));
  begin("");
  const base::Bytes event = testing::value(go("a", 9));
  const base::Bytes key = testing::value(R"("a")");
  bench().tick(EventArrived{"lab/Go@1", event, "", "lab/Keyed@1", key});
  EXPECT_TRUE(std::holds_alternative<WaitsForNothing>(why().at(0)));
  control(Control::kPause);
  ASSERT_EQ(why().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<IsPaused>(why()[0]));
}

TEST_F(InstanceTest, an_ended_instance_waits_for_nothing_and_has_no_reasons) {
  send("a", 1);
  EXPECT_TRUE(why().empty());
  EXPECT_TRUE(bench().world().why("lab/Keyed@1", testing::value(R"("nobody")"))->empty());
}

}  // namespace
}  // namespace holdfast::kernel
