// SPDX-License-Identifier: Apache-2.0
#include "steps/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

Story wide_story(std::size_t width, std::uint32_t workers) {
  std::vector<std::uint64_t> numbers(width);
  std::iota(numbers.begin(), numbers.end(), 1);
  return {
      .graph =
          "split: Start -> A[] \n work*" + std::to_string(workers) + ": A -> B \n sum: B[] -> Stop",
      .bodies = {{"split", [numbers](const Seen&, Doing& d) { d.returns_list("A", numbers); }},
                 {"work", [](const Seen& s, Doing& d) { d.streams("B", s.n).returns("B", s.n); }},
                 {"sum", [](const Seen& s, Doing& d) { d.returns("Stop", sum_of(s.numbers)); }}}};
}

TEST(StepsMachine, an_effect_is_named_by_workflow_and_step) {
  EXPECT_EQ(effect_name("shop/Order@1", "review"), "shop/Order.review@1");
}

TEST(StepsMachine, three_steps_in_a_row) {
  const Story story = line_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 4");
  EXPECT_EQ(stage.performed, Lines({"begin Start1", "work A2", "end B3"}));
  EXPECT_EQ(stage.stream(), Lines({"steps +begin", "steps -begin +work", "steps -work +end",
                                   "steps -end", "stopped Stop4"}));
  EXPECT_EQ(stage.journal().size(), 5U);  // the definitions, and one for each message
  EXPECT_EQ(stage.world().open_intents(), 0U);
}

TEST(StepsMachine, two_waits_in_sequence_get_two_answers) {
  const Story story = approval_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 45");
  // A body that waits runs again from its beginning; what it streamed before counts once.
  EXPECT_EQ(stage.performed, Lines({"ask Start1", "ask Start1", "note Answer4", "ask Start1"}));
  EXPECT_EQ(stage.stream(), Lines({"steps +ask", "steps -ask", "event B9", "event Ask0", "idle",
                                   "steps +ask +note", "steps -ask", "event Ask0", "steps -note",
                                   "idle", "steps +ask +note", "steps -ask", "stopped Stop45"}));
}

TEST(StepsMachine, a_wait_that_nobody_answers_times_out) {
  Story story = approval_story();
  story.events.pop_back();
  story.bodies["ask"] = [](const Seen& s, Doing& d) {
    if (!s.waits.contains("w")) return void(d.waits("w", "A", 1000));
    d.returns("Stop", s.waits.at("w") ? 1 : 2);
  };
  story.graph = "ask: Start -> Stop | A \n note: Answer -> B";
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 2");
  EXPECT_GT(stage.now_ns(), 1000U);
}

TEST(StepsMachine, retries_judges_and_handlers) {
  const Story story = retry_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 201");
  EXPECT_EQ(stage.performed,
            Lines({"flaky Start1", "flaky Start1", "flaky Start1", "never A2", "never?A2",
                   "never A2", "never?A2", "rescue StepFailed2", "end C200"}));
}

TEST(StepsMachine, fans_out_and_in) {
  const Story story = map_story();
  Stage stage(story);
  stage.play();
  // Halves: 1 and 10, none of 2, 30 (3 drops out). Sums: 0 comes first, as it has nothing to wait
  // for; 11 has seen the store before that, runs again and comes behind 30. The first two of these.
  EXPECT_EQ(stage.ending(), "completed 30");
  EXPECT_THAT(stage.stream(), Contains("event D41"));
}

TEST(StepsMachine, racing_collectors_make_each_pair_once) {
  const Story story = pairs_story();
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 1234");
}

TEST(StepsMachine, a_failed_run_says_where_and_why) {
  Story story = line_story();
  story.bodies["work"] = [](const Seen&, Doing& d) { d.fails("card.declined"); };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "failed card.declined: it did not work");
  EXPECT_EQ(stage.stream().back(), "failed work A2 card.declined");
}

TEST(StepsMachine, a_step_may_cancel_the_run) {
  Story story = line_story();
  story.bodies["work"] = [](const Seen&, Doing& d) { d.cancels_run("enough").returns("B", 1); };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "failed steps.cancelled: enough");
  EXPECT_EQ(stage.stream().back(), "cancelled steps.cancelled");
}

TEST(StepsMachine, a_run_that_takes_too_long_ends) {
  Story story = approval_story();
  story.events = {{"Start", 1}};
  story.timeout_ns = 5'000;
  Stage stage(story);
  stage.play();
  EXPECT_TRUE(stage.ending().starts_with(
      "failed steps.timed_out: the run took longer than it may; waiting: "))
      << stage.ending();
  EXPECT_EQ(stage.stream().back(), "timed_out steps.timed_out");
}

TEST(StepsMachine, an_idle_run_says_so_and_is_woken) {
  Story story = approval_story();
  story.events = {{"Start", 1}};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "idle");
  stage.send("Answer", 4);
  EXPECT_EQ(stage.ending(), "running");
}

// It looks idle between two messages, and is not.
TEST(StepsMachine, a_run_that_has_mail_is_not_idle) {
  Story story = approval_story();
  story.events = {{"Start", 1}};
  Stage stage(story);
  stage.play();
  const base::Bytes key = Stage::key();
  stage.tick(kernel::ControlRequested{kernel::Control::kPause, kWorkflow, key, "wait"});
  stage.send("Stop", 1);
  stage.send("Stop", 2);
  const std::size_t before = stage.stream().size();
  stage.tick(kernel::ControlRequested{kernel::Control::kResume, kWorkflow, key, "go on"});
  Lines lines = stage.stream();
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_EQ(lines, Lines({"unhandled Stop1", "unhandled Stop2", "idle"}));
}

TEST(StepsMachine, an_event_for_a_run_that_was_never_begun_leaves_no_run) {
  const Story story = approval_story();
  Stage stage(story);
  stage.send("Answer", 4);
  EXPECT_EQ(*stage.world().find(kWorkflow, Stage::key()), nullptr);
  EXPECT_EQ(stage.stream(), Lines({"unhandled Answer4"}));
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 45");
}

TEST(StepsMachine, a_result_that_makes_no_sense_is_a_failure_that_is_judged) {
  Story story = line_story();
  story.bodies["work"] = [](const Seen& s, Doing& d) {
    if (s.is_judging) return void(d.fails("no"));
    d.returns("Nonsense", 1);
  };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(),
            "failed steps.bad_result: results: no event of the workflow is a 't/Nonsense@1'");
}

TEST(StepsMachine, a_result_nobody_waits_for_is_ignored) {
  Story story = {
      .graph = R"(
                   slow: Start -> A
                   stop: Start -> A
                   end: A -> Stop)",
      .bodies = {{"slow", [](const Seen&, Doing& d) { d.returns("A", 1); }},
                 {"stop", [](const Seen&, Doing& d) { d.cancels_untold("slow").returns("A", 2); }},
                 {"end", [](const Seen& s, Doing& d) { d.returns("Stop", s.n); }}}};
  Stage stage(story);
  stage.send("Start", 1);
  const auto slow = stage.open()[0];
  const auto stop = stage.open()[1];
  Doing cancels;
  cancels.cancels_untold("slow").returns("A", 2);
  stage.answer(stop.intent, cancels);
  Doing late;
  late.returns("A", 1);
  stage.answer(slow.intent, late);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 2");
}

// Another step answers what a body asks before it waits.
TEST(StepsMachine, a_body_may_ask_another_step_and_wait_for_its_answer) {
  const Story story = {
      .graph = "ask: Start -> Stop | B \n serve: B -> Answer \n hear: Answer",
      .bodies = {{"ask",
                  [](const Seen& s, Doing& d) {
                    d.sends("B", 20);
                    if (!s.waits.contains("w")) return void(d.waits("w", "Answer"));
                    d.returns("Stop", *s.waits.at("w"));
                  }},
                 {"serve", [](const Seen& s, Doing& d) { d.returns("Answer", s.n + 1); }},
                 {"hear", [](const Seen&, Doing& d) { d.returns_nothing(); }}}};
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 21");
  EXPECT_EQ(std::count(stage.performed.begin(), stage.performed.end(), "serve B20"), 1);
}

TEST(StepsMachine, a_receipt_that_does_not_fit_is_a_failure_that_is_judged) {
  Story story = line_story();
  story.bodies["begin"] = [](const Seen& s, Doing& d) {
    if (s.is_judging) return void(d.fails("no"));
    d.returns("A", 1);  // for an intent that is settled
  };
  Stage stage(story);
  stage.play_once();
  const base::Bytes nonsense{0x01};
  stage.tick(
      kernel::ReceiptArrived{stage.open()[0].intent, kernel::ReceiptStatus::kOk, nonsense, {}, {}});
  stage.play();
  EXPECT_TRUE(stage.ending().starts_with("failed receipt.invalid_payload: ")) << stage.ending();
}

TEST(StepsMachine, an_effect_that_fails_without_a_code_is_a_failure) {
  Story story = line_story();
  story.bodies["begin"] = [](const Seen&, Doing& d) { d.returns("Stop", 1); };
  Stage stage(story);
  stage.play_once();
  codec::Buffer error;
  codec::write_map_head(error, 4);
  for (const char* field : {"code", "details", "message"}) {
    codec::write_text(error, field);
    codec::write_text(error, "");
  }
  codec::write_text(error, "retryable");
  codec::write_bool(error, false);
  stage.tick(kernel::ReceiptArrived{
      stage.open()[0].intent, kernel::ReceiptStatus::kError, error.view(), {}, {}});
  stage.play();
  EXPECT_EQ(stage.ending(), "failed effect.failed: ");
}

TEST(StepsMachine, a_clock_that_is_set_back_does_not_hold_up_what_did_not_fit) {
  const Story story = wide_story(100, 100);
  Stage stage(story);
  stage.set_clock(1'000'000);
  stage.play_once();
  stage.play_once();
  ASSERT_EQ(stage.world().open_intents(), 63U);
  stage.set_clock(10);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 5050");
  EXPECT_LT(stage.now_ns(), 1'000'000U);
}

TEST(StepsMachine, bodies_may_put_out_much_at_a_time) {
  Story story = wide_story(300, 4);
  story.bodies["work"] = [](const Seen& s, Doing& d) {
    for (std::uint64_t i = 0; i < 200; ++i) d.streams("B", i);
    d.returns("B", s.n);
  };
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 45150");
}

// Its body is told to stop, and nothing that it reports is taken.
TEST(StepsMachine, a_run_of_a_step_that_is_cancelled_is_given_up_in_the_same_record) {
  const Story story = {.graph = "slow: Start -> A \n stop: Start -> A \n end: A -> Stop",
                       .bodies = {}};
  Stage stage(story);
  stage.send("Start", 1);
  const auto slow = stage.open()[0];
  const auto outcome = stage.answer(stage.open()[1].intent, Doing().cancels("slow"));
  ASSERT_EQ(outcome.commands.size(), 1U);
  EXPECT_EQ(std::get<kernel::StopIntent>(outcome.commands[0]).intent, slow.intent);
  EXPECT_EQ(stage.world().open_intents(), 0U);
  const auto record = kernel::read_record(outcome.record);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.at(0).settled.size(), 2U);
  EXPECT_EQ(record->instances[0].settled[1].intent, slow.intent);
  EXPECT_EQ(record->instances[0].settled[1].status, "cancelled");
  // That it is idle is told once, when all of it is heard.
  const auto stream = stage.stream();
  EXPECT_EQ(std::count(stream.begin(), stream.end(), "idle"), 1);
  EXPECT_EQ(stage.ending(), "idle");

  const auto late = stage.answer(slow.intent, Doing().returns("A", 1));
  EXPECT_TRUE(std::holds_alternative<kernel::Repeated>(late.answer));
  EXPECT_TRUE(late.record.empty());
  // Opened from its records it is not begun again.
  const Stage again(story, stage, stage.journal().size());
  EXPECT_TRUE(again.open().empty());
}

// Its result waits behind that of the step that cancels it: there is nothing to give up any more.
TEST(StepsMachine, a_step_may_be_cancelled_when_its_result_is_on_its_way) {
  const Story story = {.graph = "slow: Start -> A \n stop: Start -> A \n end: A -> Stop",
                       .bodies = {}};
  Stage stage(story);
  stage.send("Start", 1);
  const auto slow = stage.open()[0];
  const auto stop = stage.open()[1];
  const base::Bytes key = Stage::key();
  stage.tick(kernel::ControlRequested{kernel::Control::kPause, kWorkflow, key, "wait"});
  stage.answer(stop.intent, Doing().cancels("slow"));
  stage.answer(slow.intent, Doing().returns("Stop", 1));
  stage.tick(kernel::ControlRequested{kernel::Control::kResume, kWorkflow, key, "go on"});
  const auto stream = stage.stream();
  EXPECT_EQ(std::count(stream.begin(), stream.end(), "idle"), 1);
  EXPECT_EQ(stage.ending(), "idle");
}

TEST(StepsMachine, all_runs_of_a_step_are_given_up_and_heard_of) {
  Story story = wide_story(60, 60);
  story.graph += "\n boss: Answer";
  story.bodies["boss"] = [](const Seen&, Doing& d) { d.cancels("work"); };
  Stage stage(story);
  while (stage.performed.empty()) stage.play_once();
  stage.send("Answer", 1);
  EXPECT_EQ(stage.world().open_intents(), 61U);
  const kernel::OpenIntent boss = stage.open().back();
  stage.perform(boss);
  EXPECT_EQ(stage.world().open_intents(), 1U) << "what joins them";
  stage.play();
  EXPECT_THAT(stage.performed, ::testing::Not(Contains(::testing::StartsWith("work"))));
  EXPECT_EQ(stage.ending(), "completed 0");
}

TEST(StepsMachine, what_a_run_that_nobody_waits_for_reports_is_not_put_out) {
  const Story story = {.graph = "slow: Start -> A \n stop: Start -> A \n end: A -> Stop",
                       .bodies = {}};
  Stage stage(story);
  stage.send("Start", 1);
  const auto slow = stage.open()[0];
  Doing cancels;
  cancels.cancels_untold("slow").returns_nothing();
  stage.answer(stage.open()[1].intent, cancels);
  const std::size_t before = stage.stream().size();
  codec::Buffer frame;
  codec::write_list_head(frame, 2);
  codec::write_text(frame, "t/A@1");
  codec::write_bytes(frame, numbered(7));
  stage.tick(kernel::ProgressArrived{slow.intent, 1, "entry", frame.view()});
  EXPECT_EQ(stage.stream().size(), before);
}

// The last message brings nothing, and yet it is the one after which the run is idle.
TEST(StepsMachine, that_a_run_is_idle_is_told_after_the_last_message_whatever_it_is) {
  const Story story = {.graph = "slow: Start -> A \n stop: Start -> A \n end: A -> Stop",
                       .bodies = {}};
  Stage stage(story);
  stage.send("Start", 1);
  const auto slow = stage.open()[0];
  const auto stop = stage.open()[1];
  const base::Bytes key = Stage::key();
  stage.tick(kernel::ControlRequested{kernel::Control::kPause, kWorkflow, key, "wait"});
  Doing cancels;
  cancels.cancels("slow").returns_nothing();
  stage.answer(stop.intent, cancels);
  codec::Buffer nonsense;
  codec::write_text(nonsense, "50 %");
  stage.tick(kernel::ProgressArrived{slow.intent, 1, "entry", nonsense.view()});
  stage.tick(kernel::ControlRequested{kernel::Control::kResume, kWorkflow, key, "go on"});
  EXPECT_EQ(stage.stream().back(), "idle");
  EXPECT_EQ(stage.ending(), "idle");
}

TEST(StepsMachine, what_a_running_body_reports_is_put_out_at_once) {
  const Story story = line_story();
  Stage stage(story);
  stage.send("Start", 1);
  codec::Buffer frame;
  codec::write_list_head(frame, 2);
  codec::write_text(frame, "t/B@1");
  codec::write_bytes(frame, numbered(7));
  stage.tick(kernel::ProgressArrived{stage.open()[0].intent, 1, "entry", frame.view()});
  EXPECT_EQ(stage.stream(), Lines({"steps +begin", "event begin B7"}));
  codec::Buffer nonsense;
  codec::write_text(nonsense, "50 %");
  stage.tick(kernel::ProgressArrived{stage.open()[0].intent, 2, "entry", nonsense.view()});
  EXPECT_EQ(stage.stream().size(), 2U) << "a sign of life is no piece";
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 4");
}

// --- what does not fit the budgets of a step

TEST(StepsMachine, a_fan_out_of_a_thousand_with_few_slots) {
  const Story story = wide_story(1000, 4);
  Stage stage(story);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 500500");
  EXPECT_EQ(stage.performed.size(), 1002U);
}

TEST(StepsMachine, a_fan_out_of_a_thousand_with_as_many_slots_goes_out_in_turns) {
  const Story story = wide_story(1000, 1000);
  Stage stage(story);
  stage.play_once();
  stage.play_once();
  // 62 runs and the timer that goes on with the rest; and the one of the first step is over.
  EXPECT_EQ(stage.world().open_intents(), 63U);
  stage.play();
  EXPECT_EQ(stage.ending(), "completed 500500");
  EXPECT_EQ(stage.performed.size(), 1002U);
  EXPECT_EQ(stage.world().open_intents(), 0U);
}

TEST(StepsMachine, more_entries_than_there_may_be_are_put_together_and_the_end_stands_alone) {
  for (const std::uint64_t count : {31U, 32U, 100U, 5000U}) {
    Story story = line_story();
    story.bodies["end"] = [count](const Seen&, Doing& d) {
      for (std::uint64_t i = 0; i < count; ++i) d.streams("B", i);
      d.returns("Stop", 7);
    };
    Stage stage(story);
    stage.play();
    EXPECT_EQ(stage.ending(), "completed 7");
    // The definitions, the event, a result of each step: it is one record, however many there are.
    EXPECT_EQ(stage.journal().size(), 5U);
    const Lines lines = stage.stream();
    std::uint64_t next = 0;
    for (const std::string& line : lines) {
      if (!line.starts_with("event B")) continue;
      EXPECT_EQ(line, "event B" + std::to_string(next++));
    }
    EXPECT_EQ(next, count);
    EXPECT_EQ(lines.back(), "stopped Stop7");
    const auto last = kernel::read_record(stage.journal().back());
    ASSERT_TRUE(last);
    const auto& annotations = last->instances.at(0).annotations;
    EXPECT_LE(annotations.size(), 32U);
    EXPECT_EQ(codec::View::of(annotations.back()).find("kind")->text(), "stopped");
  }
}

TEST(StepsMachine, a_result_that_is_too_large_for_a_record_ends_the_run_with_a_reason) {
  Story story = line_story();
  story.bodies["end"] = [](const Seen&, Doing& d) {
    d.returns_text("Stop", std::string(600'000, 'x'));
  };
  Stage stage(story);
  stage.play();
  EXPECT_THAT(stage.ending(), HasSubstr("failed steps.result_too_large: "));
  EXPECT_EQ(stage.stream().back(), "failed steps.result_too_large");
  story.bodies["end"] = [](const Seen&, Doing& d) {
    d.returns_text("Stop", std::string(490'000, 'x'));
  };
  Stage other(story);
  other.play();
  EXPECT_EQ(other.ending(), "completed 0");
}

TEST(StepsMachine, what_is_live_beyond_its_limit_ends_the_run_with_a_reason) {
  const Story story = wide_story(20'000, 1);
  Stage stage(story);
  // More than a body may do.
  stage.send("Start", 1);
  Doing doing;
  std::vector<std::uint64_t> numbers(16'000);
  std::iota(numbers.begin(), numbers.end(), 1'000'000'000'000);
  doing.returns_list("A", numbers);
  stage.answer(stage.open()[0].intent, doing);
  stage.play();
  EXPECT_THAT(stage.ending(), HasSubstr("failed steps.state_too_large: "));
  EXPECT_EQ(stage.stream().back(), "failed steps.state_too_large");
}

TEST(StepsMachine, an_error_about_the_size_of_a_run_says_how_much_it_is_and_of_what) {
  Story story = wide_story(12'000, 4);
  Stage stage(story);
  stage.play();
  EXPECT_EQ(
      stage.ending().find("failed steps.state_too_large: what is live in the run, and what it "
                          "puts out at once, is more than 896 KiB: "),
      0U);
  EXPECT_THAT(stage.ending(), HasSubstr(" KiB, with 12000 events for step 'work'"));
  Stage again(story, stage, stage.journal().size());
}

TEST(StepsMachine, waits_in_a_row_leave_one_timer_open) {
  Story story = {.graph = "ask: Start -> Stop \n note: Answer -> B",
                 .bodies = {{"ask",
                             [](const Seen& s, Doing& d) {
                               const std::size_t n = s.waits.size();
                               if (n == 50) return void(d.returns("Stop", 1));
                               d.waits(std::to_string(n), "Answer", 1'000'000'000);
                             }},
                            {"note", [](const Seen&, Doing& d) { d.returns_nothing(); }}}};
  for (std::uint64_t i = 0; i < 50; ++i) story.events.emplace_back("Answer", i);
  Stage stage(story);
  std::uint64_t most = 0;
  while (stage.play_once()) most = std::max(most, stage.world().open_intents());
  EXPECT_EQ(stage.ending(), "completed 1");
  EXPECT_LE(most, 3U);  // the body, the other step, the timer
}

TEST(StepsMachine, a_state_that_is_not_one_fails_the_instance) {
  const Story story = line_story();
  Stage stage(story);
  stage.send("Start", 1);
  // Of another graph.
  Story other = line_story();
  other.graph += "\n more: B -> Stop";
  const StepsMachine machine(world_graph(other), kWorkflow);
  kernel::StepOutput output;
  const kernel::InstanceValues values = stage.instance();
  class NoContext : public kernel::Context {
   public:
    std::uint64_t time_ns() const override { return 0; }
    std::uint64_t logical_ns() const override { return 0; }
    std::uint64_t record() const override { return 0; }
    base::Hash entropy() const override { return {}; }
    base::Hash manifest_hash() const override { return {}; }
    std::string_view workflow() const override { return kWorkflow; }
    base::Hash workflow_hash() const override { return {}; }
    base::ByteView key() const override { return {}; }
    bool is_keyed() const override { return true; }
    std::uint64_t mail_waiting() const override { return 0; }
    void write_event(const kernel::Mail&, codec::Buffer&) const override {}
    bool write_context(const kernel::Mail&, codec::Buffer&) const override { return false; }
  } context;
  const kernel::Mail mail;
  machine.step({base::ByteView(values.state), mail, context}, output);
  EXPECT_EQ(output.fate(), kernel::Fate::kFailed);
  EXPECT_EQ(output.error_code(), "steps.bad_state");
}

}  // namespace
}  // namespace holdfast::steps::testing
