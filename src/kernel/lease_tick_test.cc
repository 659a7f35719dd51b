// SPDX-License-Identifier: Apache-2.0
// Design: "A dispatch is a lease on the task's open intent."
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/lease_list.h"
#include "kernel/limits.h"
#include "kernel/testing_leases.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json_of;
using testing::LeaseTest;
using testing::news_in;
using testing::open;
using testing::opened;
using testing::state;

using Kind = WorkVerdict::Kind;
using News = WorkNews::Kind;

TEST_F(LeaseTest, a_granted_lease_has_a_dispatch_that_grows_and_is_told_with_the_record) {
  enrol("w-1");
  const base::Hash a = begin_work("a");
  const base::Hash b = begin_work("b");
  const Outcome outcome = lease("w-1", {a, b});
  const auto& verdicts = std::get<Accepted>(outcome.answer).verdicts;
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].kind, Kind::kGranted);
  EXPECT_EQ(verdicts[0].dispatch, dispatch_number(std::get<Accepted>(outcome.answer).record, 0));
  EXPECT_EQ(verdicts[1].dispatch, verdicts[0].dispatch + 1);
  const auto news = news_in(outcome);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0]->kind, News::kLeased);
  EXPECT_EQ(news[0]->open.intent, a);
  EXPECT_EQ(news[0]->work->lease->worker, "w-1");
  EXPECT_EQ(news[0]->work->lease->leased_ns, bench().now_ns());
  const base::Hash c = begin_work("c");
  EXPECT_GT(dispatch_of(lease("w-1", {c})), verdicts[1].dispatch);
  bench().expect_replays();
}

TEST_F(LeaseTest, what_cannot_be_leased_is_named_with_its_reason_and_is_not_in_the_record) {
  enrol("w-1");
  enrol("w-2");
  const base::Hash held = begin_work("a");
  const base::Hash free = begin_work("b");
  const base::Hash settled = begin_work("c");
  const base::Hash timer = begin_timer("t");
  const std::uint64_t present = dispatch_of(lease("w-1", {held}));
  bench().receipt(settled, R"({"ok":true})");
  const Outcome outcome = lease("w-2", {held, settled, timer, free, free});
  const auto& verdicts = std::get<Accepted>(outcome.answer).verdicts;
  ASSERT_EQ(verdicts.size(), 5u);
  EXPECT_EQ(verdicts[0].kind, Kind::kHeld);
  EXPECT_EQ(verdicts[0].dispatch, present);
  EXPECT_EQ(verdicts[1].kind, Kind::kNotOpen);
  EXPECT_EQ(verdicts[2].kind, Kind::kNotLeased);
  EXPECT_EQ(verdicts[3].kind, Kind::kGranted);
  EXPECT_EQ(verdicts[4].kind, Kind::kHeld) << "it is named twice";
  const auto record = read_record(outcome.record);
  ASSERT_TRUE(record);
  const auto items = read_lease_list(std::get<Leased>(record->tick.input).items);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ(items->front().intent, free);
  EXPECT_EQ(record->instances.size(), 1u) << "only the instance of the lease is touched";
  bench().expect_replays();
}

TEST_F(LeaseTest, a_call_that_grants_nothing_leaves_no_record) {
  enrol("w-1");
  const base::Hash held = begin_work("a");
  lease("w-1", {held});
  const std::uint64_t next = bench().world().next_record();
  const Outcome outcome = lease("w-1", {held});
  EXPECT_TRUE(std::holds_alternative<Unchanged>(outcome.answer));
  EXPECT_TRUE(outcome.record.empty());
  EXPECT_EQ(bench().world().next_record(), next);
}

TEST_F(LeaseTest, only_an_active_worker_that_is_not_cordoned_gets_work) {
  const base::Hash intent = begin_work("a");
  EXPECT_EQ(refusal_of(lease("w-1", {intent})).code, base::ErrorCode::kNotFound);
  enrol("w-1");
  for (const auto& [away, back, word] :
       {std::tuple(WorkerChange::kDrain, WorkerChange::kActivate, "draining"),
        std::tuple(WorkerChange::kCordon, WorkerChange::kUncordon, "cordoned"),
        std::tuple(WorkerChange::kLose, WorkerChange::kActivate, "lost"),
        std::tuple(WorkerChange::kLeave, WorkerChange::kActivate, "left")}) {
    change("w-1", away);
    const Refused refused = refusal_of(lease("w-1", {intent}));
    EXPECT_EQ(refused.code, base::ErrorCode::kConflict);
    EXPECT_THAT(refused.message, HasSubstr(word));
    change("w-1", back);
  }
  EXPECT_NE(dispatch_of(lease("w-1", {intent})), 0u);
  bench().expect_replays();
}

TEST_F(LeaseTest, a_leased_effect_takes_the_report_of_its_present_dispatch_and_no_other) {
  enrol("w-1");
  enrol("w-2");
  const base::Hash intent = begin_work("a");
  const std::uint64_t first = dispatch_of(lease("w-1", {intent}));
  give_back("w-1", intent, first, ReturnReason::kLost);
  const std::uint64_t second = dispatch_of(lease("w-2", {intent}));
  const std::string before = json_of(*bench().world().snapshot());
  for (const Outcome& outcome :
       {report(intent, "w-1", first), report(intent, "w-1", second), report(intent, "w-2", first),
        report(intent, "w-2", second + 1), bench().receipt(intent, R"({"ok":true})"),
        frame(intent, "w-1", first, 1), bench().progress(intent, 1, "1")}) {
    const auto* unchanged = std::get_if<Unchanged>(&outcome.answer);
    ASSERT_NE(unchanged, nullptr);
    EXPECT_EQ(unchanged->verdicts.at(0).kind, Kind::kStale);
    EXPECT_TRUE(outcome.record.empty());
    EXPECT_TRUE(outcome.commands.empty());
  }
  EXPECT_EQ(json_of(*bench().world().snapshot()), before) << "nothing has changed at all";
  EXPECT_EQ(bench().world().counters().stale_reports, 7u);
  const Outcome outcome = report(intent, "w-2", second);
  EXPECT_EQ(std::get<Accepted>(outcome.answer).settled, ReceiptStatus::kOk);
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
  bench().expect_replays();
}

TEST_F(LeaseTest, the_same_report_again_gets_the_first_answer_and_another_dispatch_is_stale) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t first = dispatch_of(lease("w-1", {intent}));
  give_back("w-1", intent, first, ReturnReason::kLost);
  const std::uint64_t second = dispatch_of(lease("w-1", {intent}));
  const std::uint64_t record = std::get<Accepted>(report(intent, "w-1", second).answer).record;
  for (int i = 0; i < 2; ++i) {
    const Outcome again = report(intent, "w-1", second);
    EXPECT_EQ(std::get<Repeated>(again.answer).record, record);
    EXPECT_EQ(std::get<Repeated>(again.answer).settled, ReceiptStatus::kOk);
    EXPECT_TRUE(std::holds_alternative<Unchanged>(report(intent, "w-1", first).answer));
    bench().put_away();  // a snapshot remembers which dispatch it was
  }
  bench().expect_replays();
}

TEST_F(LeaseTest, an_effect_that_nobody_holds_takes_a_report_without_dispatch_and_no_other) {
  enrol("w-1");
  const base::Hash never = begin_work("a");
  EXPECT_TRUE(std::holds_alternative<Unchanged>(report(never, "w-1", 7).answer));
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().receipt(never, R"({"ok":true})").answer));
  const base::Hash returned = begin_work("b");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {returned}));
  give_back("w-1", returned, dispatch, ReturnReason::kDrain);
  EXPECT_TRUE(std::holds_alternative<Unchanged>(report(returned, "w-1", dispatch).answer));
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().receipt(returned, R"({"ok":true})").answer));
  bench().expect_replays();
}

TEST_F(LeaseTest, the_node_itself_may_end_a_dispatch_and_its_worker_is_told) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
  const Outcome outcome =
      report(intent, "", dispatch, ReceiptStatus::kTimeout, testing::kLeaseError);
  const auto news = news_in(outcome);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0]->kind, News::kEnded);
  EXPECT_EQ(news[0]->worker, "w-1");
  EXPECT_EQ(news[0]->dispatch, dispatch);
  EXPECT_FALSE(news[0]->by_worker);
  bench().expect_replays();
}

TEST_F(LeaseTest, a_returned_effect_keeps_its_identity_and_waits_from_now_on) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
  const Outcome outcome = give_back("w-1", intent, dispatch, ReturnReason::kDrain);
  const auto news = news_in(outcome);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0]->kind, News::kReturned);
  EXPECT_EQ(news[0]->open.intent, intent);
  EXPECT_EQ(news[0]->reason, ReturnReason::kDrain);
  EXPECT_EQ(news[0]->worker, "w-1");
  EXPECT_EQ(news[0]->work->queued_ns, bench().now_ns());
  EXPECT_EQ(news[0]->work->losses, 0u);
  EXPECT_THAT(keyed("a")->intents, ElementsAre(intent));
  EXPECT_EQ(held_by("w-1"), 0u);
  EXPECT_NE(dispatch_of(lease("w-1", {intent})), dispatch);
  bench().expect_replays();
}

TEST_F(LeaseTest, only_a_loss_spends_an_attempt_and_two_reports_of_it_spend_one) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  std::uint64_t spent = 0;
  for (const ReturnReason reason :
       {ReturnReason::kDrain, ReturnReason::kDenied, ReturnReason::kYield, ReturnReason::kRefused,
        ReturnReason::kLost}) {
    const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
    const Outcome first = give_back("w-1", intent, dispatch, reason);
    if (reason == ReturnReason::kLost) ++spent;
    EXPECT_EQ(news_in(first).at(0)->work->losses, spent);
    // The watchdog and the worker say so both, and a third time when the worker is declared lost.
    EXPECT_TRUE(std::holds_alternative<Unchanged>(
        give_back("", intent, dispatch, ReturnReason::kLost).answer));
    change("w-1", WorkerChange::kLose);
    change("w-1", WorkerChange::kActivate);
    EXPECT_EQ(work_of(intent)->losses, spent);
  }
  EXPECT_THAT(work_of(intent)->lost_by, ElementsAre("w-1"));
  report(intent, "w-1", dispatch_of(lease("w-1", {intent})));
  EXPECT_EQ(last_origin_.losses, 1u) << "the instance hears how many were spent";
  EXPECT_EQ(last_origin_.worker, "w-1");
  bench().expect_replays();
}

TEST_F(LeaseTest, an_effect_that_must_not_run_twice_fails_when_its_worker_is_lost) {
  enrol("w-1");
  const base::Hash drained = begin_work("a");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {drained}, {.fails_if_lost = true}));
  give_back("w-1", drained, dispatch, ReturnReason::kDrain);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting) << "it was not lost";
  const Outcome outcome =
      give_back("w-1", drained, dispatch_of(lease("w-1", {drained}, {.fails_if_lost = true})),
                ReturnReason::kLost);
  EXPECT_EQ(std::get<Accepted>(outcome.answer).verdicts.at(0).kind, Kind::kSettled);
  EXPECT_EQ(keyed("a")->status(), Status::kCompleted);
  EXPECT_THAT(json_of(keyed("a")->outcome), HasSubstr(R"("code":"worker.lost")"));
  EXPECT_EQ(last_origin_.losses, 1u);
  EXPECT_EQ(last_origin_.worker, "w-1");
  EXPECT_EQ(held_by("w-1"), 0u);
  bench().expect_replays();
}

TEST_F(LeaseTest, a_yield_leaves_what_the_next_execution_resumes_with) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const base::Bytes resume = testing::value(R"({"step":7})");
  give_back("w-1", intent, dispatch_of(lease("w-1", {intent})), ReturnReason::kYield, resume);
  EXPECT_EQ(work_of(intent)->resume, resume);
  bench().put_away();
  EXPECT_EQ(work_of(intent)->resume, resume);
  // A loss keeps the last checkpoint.
  give_back("w-1", intent, dispatch_of(lease("w-1", {intent})), ReturnReason::kLost);
  EXPECT_EQ(work_of(intent)->resume, resume);
  bench().expect_replays();
}

TEST_F(LeaseTest, progress_is_counted_anew_with_each_dispatch) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t first = dispatch_of(lease("w-1", {intent}));
  frame(intent, "w-1", first, 1);
  frame(intent, "w-1", first, 2);
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":2})");
  give_back("w-1", intent, first, ReturnReason::kDrain);
  const std::uint64_t second = dispatch_of(lease("w-1", {intent}));
  EXPECT_TRUE(std::holds_alternative<Accepted>(frame(intent, "w-1", second, 1).answer));
  EXPECT_EQ(json_of(keyed("a")->state), R"({"n":1})");
  bench().expect_replays();
}

TEST_F(LeaseTest, an_instance_that_is_cancelled_ends_its_leases_and_the_worker_is_told) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
  const Outcome outcome = bench().control(Control::kCancel, "lab/Keyed@1", "\"a\"");
  const auto news = news_in(outcome);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0]->kind, News::kEnded);
  EXPECT_EQ(news[0]->status, ReceiptStatus::kCancelled);
  EXPECT_EQ(news[0]->dispatch, dispatch);
  EXPECT_FALSE(news[0]->by_worker);
  EXPECT_EQ(held_by("w-1"), 0u);
  EXPECT_EQ(std::get<Repeated>(report(intent, "w-1", dispatch).answer).settled,
            ReceiptStatus::kCancelled);
  bench().expect_replays();
}

TEST_F(LeaseTest, what_is_asked_to_stop_stays_open_and_ends_cancelled_whatever_its_worker_says) {
  enrol("w-1");
  for (const bool succeeds : {true, false}) {
    const std::string id = succeeds ? "ok" : "error";
    const base::Hash intent = begin_work(id);
    const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
    const Outcome asked = bench().tick(StopAsked{intent, "enough", "eva"});
    ASSERT_TRUE(std::holds_alternative<Accepted>(asked.answer));
    EXPECT_EQ(news_in(asked).at(0)->kind, News::kStopAsked);
    EXPECT_TRUE(news_in(asked).at(0)->work->lease->is_stopping);
    EXPECT_EQ(keyed(id)->status(), Status::kWaiting);
    EXPECT_TRUE(
        std::holds_alternative<Unchanged>(bench().tick(StopAsked{intent, "enough", {}}).answer));
    bench().put_away();
    const Outcome ended =
        succeeds ? report(intent, "w-1", dispatch)
                 : report(intent, "w-1", dispatch, ReceiptStatus::kError, testing::kLeaseError);
    EXPECT_EQ(std::get<Accepted>(ended.answer).settled, ReceiptStatus::kCancelled);
    EXPECT_TRUE(news_in(ended).at(0)->by_worker);
    EXPECT_THAT(json_of(keyed(id)->outcome), HasSubstr(R"("code":"effect.stopped")"));
  }
  bench().expect_replays();
}

TEST_F(LeaseTest, what_is_stopping_ends_cancelled_when_it_is_returned_for_any_reason) {
  enrol("w-1");
  for (const ReturnReason reason :
       {ReturnReason::kLost, ReturnReason::kDrain, ReturnReason::kDenied, ReturnReason::kYield}) {
    const std::string id(name_of(reason));
    const base::Hash intent = begin_work(id);
    const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}, {.fails_if_lost = true}));
    bench().tick(StopAsked{intent, "enough", {}});
    give_back("w-1", intent, dispatch, reason);
    EXPECT_EQ(last_status_, ReceiptStatus::kCancelled);
    EXPECT_THAT(json_of(keyed(id)->outcome), HasSubstr(R"("code":"effect.stopped")"));
  }
  bench().expect_replays();
}

TEST_F(LeaseTest, what_nobody_holds_is_stopped_at_once) {
  const base::Hash intent = begin_work("a");
  const Outcome outcome = bench().tick(StopAsked{intent, "enough", {}});
  EXPECT_EQ(std::get<Accepted>(outcome.answer).settled, ReceiptStatus::kCancelled);
  EXPECT_THAT(json_of(keyed("a")->outcome), HasSubstr(R"("code":"effect.stopped")"));
  EXPECT_TRUE(
      std::holds_alternative<Repeated>(bench().tick(StopAsked{intent, "enough", {}}).answer));
  EXPECT_EQ(refusal_of(bench().tick(StopAsked{begin_timer("t"), "enough", {}})).code,
            base::ErrorCode::kConflict);
  bench().expect_replays();
}

TEST_F(LeaseTest, a_step_can_ask_for_what_it_opened_to_be_stopped_softly) {
  keyed_ = [this](const StepInput& input, StepOutput& output) {
    if (input.mail.schema == "lab/Stop@1") {
      state(output, 9);
      return output.ask_to_stop("it");
    }
    if (input.mail.kind == MailKind::kReceipt) return work(input, output);
    state(output, 1);
    open(output, "lab/work@1", R"({"a":1})", {}, "it");
  };
  enrol("w-1");
  const base::Hash held = begin_work("a");
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {held}));
  const Outcome asked = bench().event("lab/Stop@1", R"({"id":"a"})");
  ASSERT_EQ(news_in(asked).size(), 1u);
  EXPECT_EQ(news_in(asked)[0]->kind, News::kStopAsked);
  EXPECT_EQ(keyed("a")->status(), Status::kWaiting);
  EXPECT_THAT(keyed("a")->intents, ElementsAre(held));
  report(held, "w-1", dispatch);
  EXPECT_THAT(json_of(keyed("a")->outcome), HasSubstr("effect.stopped"));

  begin_work("b");
  bench().event("lab/Stop@1", R"({"id":"b"})");
  EXPECT_THAT(json_of(keyed("b")->outcome), HasSubstr("effect.stopped")) << "nobody held it";
  bench().expect_replays();
}

TEST_F(LeaseTest, a_lease_has_the_limit_of_its_definition_unless_it_says_another) {
  enrol("w-1");
  const base::Hash a = begin_work("a");
  const base::Hash b = begin_work("b");
  lease("w-1", {a});
  lease("w-1", {b}, {.time_limit_ns = 5});
  EXPECT_EQ(work_of(a)->lease->time_limit_ns, 31'536'000'000'000'000u);
  EXPECT_EQ(work_of(b)->lease->time_limit_ns, 5u);
}

TEST_F(LeaseTest, why_says_who_has_it_since_when_and_whether_it_is_stopping) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const auto reason = [this] {
    return std::get<WaitsForReceipt>(
        bench().world().why("lab/Keyed@1", testing::value("\"a\"")).take().at(0));
  };
  EXPECT_TRUE(reason().by_workers);
  EXPECT_FALSE(reason().lease);
  EXPECT_EQ(reason().queued_ns, bench().now_ns());
  const std::uint64_t dispatch = dispatch_of(lease("w-1", {intent}));
  const std::uint64_t leased_ns = bench().now_ns();
  EXPECT_EQ(reason().lease->worker, "w-1");
  EXPECT_EQ(reason().lease->leased_ns, leased_ns);
  EXPECT_FALSE(reason().lease->is_stopping);
  bench().tick(StopAsked{intent, "enough", {}});
  EXPECT_TRUE(reason().lease->is_stopping);
  EXPECT_EQ(reason().lease->dispatch, dispatch);
}

TEST_F(LeaseTest, leases_and_workers_survive_a_snapshot) {
  enrol("w-1");
  enrol("w-2");
  const base::Hash held = begin_work("a");
  const base::Hash lost = begin_work("b");
  const std::uint64_t dispatch =
      dispatch_of(lease("w-1", {held}, {.detail = testing::value(R"({"gpu":[0]})")}));
  give_back("w-2", lost, dispatch_of(lease("w-2", {lost})), ReturnReason::kLost);
  change("w-2", WorkerChange::kCordon);
  for (int i = 0; i < 2; ++i) {
    bench().put_away();
    EXPECT_EQ(work_of(held)->lease->dispatch, dispatch);
    EXPECT_EQ(json_of(work_of(held)->lease->detail), R"({"gpu":[0]})");
    EXPECT_EQ(work_of(lost)->losses, 1u);
    EXPECT_EQ(held_by("w-1"), 1u);
    const Workers& workers = bench().world().workers();
    EXPECT_TRUE(workers.is_cordoned(*workers.find("w-2")));
    EXPECT_EQ(workers.leases(), 1u);
    EXPECT_TRUE(std::holds_alternative<Unchanged>(report(held, "w-2", dispatch).answer));
  }
  EXPECT_TRUE(std::holds_alternative<Accepted>(report(held, "w-1", dispatch).answer));
  bench().expect_replays();
}

TEST_F(LeaseTest, bad_lists_are_refused_and_nothing_happens) {
  enrol("w-1");
  const base::Hash intent = begin_work("a");
  const std::uint64_t next = bench().world().next_record();
  const base::Bytes large(kMaxLeaseDetailBytes + 1, 0);
  codec::Buffer too_large;
  write_lease_list(too_large, {{.intent = intent, .detail = large}});
  codec::Buffer too_many;
  write_lease_list(too_many, std::vector<LeaseItem>(kMaxLeasesPerTick + 1, {.intent = intent}));
  codec::Buffer none;
  write_lease_list(none, {});
  for (const base::ByteView list :
       {too_large.view(), too_many.view(), none.view(), base::ByteView()})
    EXPECT_EQ(refusal_of(bench().tick(Leased{"w-1", list})).code, base::ErrorCode::kInvalid);
  codec::Buffer resume;
  write_return_list(resume, {{.intent = intent,
                              .dispatch = 1,
                              .reason = ReturnReason::kLost,
                              .resume = base::ByteView(large).first(3)}});
  EXPECT_EQ(refusal_of(bench().tick(Returned{"w-1", resume.view()})).code,
            base::ErrorCode::kInvalid);
  EXPECT_EQ(bench().world().next_record(), next);
}

}  // namespace
}  // namespace holdfast::kernel
