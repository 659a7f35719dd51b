// SPDX-License-Identifier: Apache-2.0
#include "worker/conversation.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "env/sim_disk.h"

namespace holdfast::work {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// The value of a request's body.
struct BodyOf {
  explicit BodyOf(const std::string& json) : bytes(*value_of_json(json)) {}
  codec::View view() const { return codec::View::of(bytes); }
  std::string json(std::string_view name) const {
    const auto found = view().find(name);
    return found ? codec::to_json(*found) : "absent";
  }
  base::Bytes bytes;
};

class ConversationTest : public ::testing::Test {
 protected:
  static ConversationOptions options() {
    ConversationOptions made;
    made.offer.node = "n";
    made.offer.name = "w";
    made.offer.queues = {"default"};
    made.offer.types = {"echo"};
    made.offer.slots = 4;
    made.secret = "secret";
    made.token = "token";
    made.process = "p";
    return made;
  }

  Request must_send() {
    auto request = conversation.next(now);
    EXPECT_TRUE(request);
    return request ? std::move(*request) : Request();
  }
  News answer(const Request& request, const std::string& body, long status = 200) {
    return conversation.answered(request.id, {status, body, 0}, now);
  }
  void begin() {
    const Request enrol = must_send();
    EXPECT_EQ(enrol.kind, Request::Kind::kEnrol);
    EXPECT_EQ(enrol.credential, "token");
    answer(enrol, kEnrolled, 201);
    const Request session = must_send();
    EXPECT_EQ(session.kind, Request::Kind::kSession);
    EXPECT_EQ(session.credential, "secret");
    answer(session, R"({"session":"s-1","seq":0,"keep":[],"drop":[],"mode":"active"})");
  }
  static std::string work(const std::string& dispatch) {
    return R"({"d":")" + dispatch + R"(","key":"k","kind":"task","type":"echo","input":{}})";
  }
  static std::string answer_of(const Request& request, const std::string& more) {
    return R"({"seq":)" + BodyOf(request.body).json("seq") + R"(,"mode":"active")" +
           (more.empty() ? "" : "," + more) + "}";
  }
  void end(const std::string& dispatch) {
    outbox.put(dispatch, held_entry(EntryList::kDone, done_entry(dispatch, Ended::ok({0xf6}), {})));
    conversation.reported(dispatch);
  }

  static constexpr const char* kEnrolled =
      R"({"worker":"w-1","ttl_ms":30000,"max_wait_ms":10000,"max_batch":256,"max_result_bytes":1048576})";

  static constexpr const char* kEnrolledWithRecipes =
      R"({"worker":"w-1","ttl_ms":30000,"max_wait_ms":10000,"max_batch":256,"max_result_bytes":1048576,"takes":["recipes"]})";

  std::map<std::string, std::uint64_t> sent_before_;
  std::int64_t now = kSecond;
  env::SimDisk disk;
  Outbox outbox = *Outbox::open(disk, "./outbox");
  LogLines logs;
  std::unique_ptr<env::Random> random = env::seeded_random(1);
  Conversation conversation{options(), outbox, logs, *random};
};

TEST_F(ConversationTest, enrols_begins_a_session_and_asks_for_work) {
  begin();
  const Request sync = must_send();
  EXPECT_EQ(sync.path, "/v1/workers/w-1/sync");
  const BodyOf body(sync.body);
  EXPECT_EQ(body.json("want"), "4");
  EXPECT_EQ(body.json("wait_ms"), "10000");
  EXPECT_EQ(body.json("holding"), "[]");
  EXPECT_FALSE(conversation.next(now)) << "one that is held back is enough";
  const News news = answer(sync, answer_of(sync, R"("work":[)" + work("1") + "]"));
  ASSERT_EQ(news.start.size(), 1u);
  EXPECT_EQ(news.start[0].dispatch, "1");
  EXPECT_EQ(BodyOf(must_send().body).json("holding"), R"(["1"])");
}

TEST_F(ConversationTest,
       a_result_goes_beside_the_sync_that_is_held_back_and_is_held_until_it_is_answered) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  const Request parked = must_send();
  end("1");
  const Request report = must_send();
  const BodyOf body(report.body);
  EXPECT_EQ(body.json("done"), R"([{"d":"1","status":"ok","payload":null}])");
  EXPECT_EQ(body.json("holding"), R"(["1"])");
  EXPECT_EQ(body.json("want"), "4");
  EXPECT_EQ(body.json("wait_ms"), "0");
  EXPECT_FALSE(conversation.next(now)) << "it is under way";
  answer(parked, answer_of(parked, ""));
  EXPECT_TRUE(conversation.holds_anything());
  answer(report, answer_of(report, R"("results":[{"d":"1","result":"ok"}])"));
  EXPECT_FALSE(conversation.holds_anything());
  EXPECT_TRUE(outbox.held().empty());
}

TEST_F(ConversationTest, work_of_an_answer_that_is_older_than_one_taken_is_left_out) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  const Request parked = must_send();
  end("1");
  const Request newer = must_send();
  answer(newer, answer_of(newer, R"("results":[{"d":"1","result":"ok"}])"));
  const News late =
      answer(parked, answer_of(parked, R"("work":[)" + work("1") + R"(],"drop":["9"])"));
  EXPECT_TRUE(late.start.empty());
}

TEST_F(ConversationTest, work_that_it_holds_is_not_started_again) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  const Request second = must_send();
  EXPECT_TRUE(answer(second, answer_of(second, R"("work":[)" + work("1") + "]")).start.empty());
  end("1");
  const Request third = must_send();
  EXPECT_TRUE(answer(third, answer_of(third, R"("work":[)" + work("1") + "]")).start.empty())
      << "it is in the outbox";
}

TEST_F(ConversationTest, what_a_lost_request_carried_is_sent_again_after_a_pause) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  const Request parked = must_send();
  logs.add("1", 5, false, "line");
  conversation.progressed("1", "7");
  end("1");
  const Request report = must_send();
  EXPECT_NE(BodyOf(report.body).json("logs"), "absent");
  conversation.lost(report.id, base::Error(base::ErrorCode::kUnavailable, "gone"), now);
  conversation.lost(parked.id, base::Error(base::ErrorCode::kUnavailable, "gone"), now);
  EXPECT_FALSE(conversation.next(now)) << "not at once";
  EXPECT_GT(conversation.wake_at_ns(), now);
  now = conversation.wake_at_ns();
  const BodyOf again(must_send().body);
  EXPECT_EQ(again.json("done"), R"([{"d":"1","status":"ok","payload":null}])");
  EXPECT_NE(again.json("logs"), "absent");
}

TEST_F(ConversationTest, pauses_double_up_to_half_a_minute) {
  begin();
  std::int64_t longest = 0;
  for (int i = 0; i < 12; ++i) {
    const Request sync = must_send();
    conversation.lost(sync.id, base::Error(base::ErrorCode::kUnavailable, "gone"), now);
    const std::int64_t pause = conversation.wake_at_ns() - now;
    EXPECT_GE(pause, kSecond / 2);
    EXPECT_LE(pause, 30 * kSecond);
    longest = std::max(longest, pause);
    now = conversation.wake_at_ns();
  }
  EXPECT_GE(longest, 15 * kSecond);
}

TEST_F(ConversationTest, a_session_that_ended_is_begun_anew_with_everything_that_is_held) {
  begin();
  const Request first = must_send();
  answer(first,
         answer_of(first, R"("work":[)" + work("1") + "," + work("2") + "," + work("3") + "]"));
  end("2");
  const Request report = must_send();
  answer(report, R"({"code":"session","detail":"ended"})", 409);
  const Request session = must_send();
  ASSERT_EQ(session.kind, Request::Kind::kSession);
  EXPECT_EQ(BodyOf(session.body).json("first"), "false");
  EXPECT_EQ(BodyOf(session.body).json("holding"), R"(["1","3","2"])");
  const News news = answer(session, R"({"session":"s-2","keep":["1","2"],"drop":["3"]})");
  EXPECT_EQ(news.drop, std::vector<std::string>{"3"});
  const BodyOf again(must_send().body);
  EXPECT_EQ(again.json("session"), R"("s-2")");
  EXPECT_EQ(again.json("holding"), R"(["1","2"])");
  EXPECT_NE(again.json("done"), "absent");
}

TEST_F(ConversationTest, a_server_that_ends_every_session_is_not_asked_without_a_pause) {
  begin();
  int requests = 0;
  for (; requests < 100; ++requests) {
    const auto request = conversation.next(now);
    if (!request) break;
    if (request->kind == Request::Kind::kSync) {
      answer(*request, R"({"code":"session"})", 409);
    } else {
      answer(*request, R"({"session":"s-2","keep":[],"drop":[]})");
    }
  }
  EXPECT_LT(requests, 10);
  EXPECT_GT(conversation.wake_at_ns(), now);
}

TEST_F(ConversationTest, what_is_dropped_leaves_the_outbox_and_its_task_is_ended) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "," + work("2") + "]"));
  end("1");
  const Request report = must_send();
  const News news = answer(report, answer_of(report, R"("drop":["1","2"])"));
  EXPECT_EQ(news.drop, std::vector<std::string>{"2"});
  EXPECT_FALSE(conversation.holds_anything());
}

TEST_F(ConversationTest, a_refused_report_is_replaced_by_an_error) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  end("1");
  const Request report = must_send();
  answer(
      report,
      answer_of(report, R"("results":[{"d":"1","result":"refused","problem":{"detail":"no"}}])"));
  const std::string done = BodyOf(must_send().body).json("done");
  EXPECT_EQ(
      done,
      R"([{"d":"1","error":{"code":"task.bad_result","message":"no","retryable":false},"status":"error"}])");
}

TEST_F(ConversationTest,
       a_report_that_makes_the_server_refuse_the_request_is_found_by_sending_it_alone) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "," + work("2") + "]"));
  end("1");
  end("2");
  const Request both = must_send();
  EXPECT_FALSE(answer(both, R"({"code":"bad_body","detail":"$.done[0]"})", 400).fatal);
  const Request one = must_send();
  EXPECT_NE(BodyOf(one.body).json("done").find(R"("d":"1")"), std::string::npos);
  EXPECT_EQ(BodyOf(one.body).json("done").find(R"("d":"2")"), std::string::npos);
  answer(one, R"({"code":"bad_body","detail":"$.done[0]"})", 400);
  EXPECT_NE(BodyOf(must_send().body).json("done").find("task.bad_result"), std::string::npos);
}

TEST_F(ConversationTest, an_answer_that_cannot_be_read_changes_nothing) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  end("1");
  for (const char* body : {"", "[]", "{", R"({"seq":"x"})", R"({"seq":1,"work":[{}]})"}) {
    const auto request = conversation.next(now);
    ASSERT_TRUE(request) << body;
    const News news = answer(*request, body);
    EXPECT_TRUE(news.start.empty() && !news.fatal) << body;
    EXPECT_EQ(outbox.held().size(), 1u) << body;
    now = std::max(now, conversation.wake_at_ns());
  }
}

TEST_F(ConversationTest, a_token_that_is_not_good_and_a_place_that_was_taken_end_it) {
  EXPECT_TRUE(answer(must_send(), R"({"code":"unauthenticated"})", 401).fatal);
  begin();
  EXPECT_TRUE(answer(must_send(), R"({"code":"superseded"})", 409).fatal);
}

TEST_F(ConversationTest, a_name_that_is_taken_is_asked_for_again_later) {
  EXPECT_FALSE(answer(must_send(), R"({"code":"name_taken"})", 409).fatal);
  EXPECT_FALSE(conversation.next(now));
  now = conversation.wake_at_ns();
  EXPECT_EQ(must_send().kind, Request::Kind::kEnrol);
}

TEST_F(ConversationTest, asks_for_no_work_while_it_drains_or_cannot_write_its_outbox) {
  begin();
  conversation.set_durable(false);
  const Request first = must_send();
  EXPECT_EQ(BodyOf(first.body).json("want"), "0");
  conversation.set_durable(true);
  const Request second = must_send();
  EXPECT_EQ(BodyOf(second.body).json("want"), "4") << "a newer sync says so at once";
  answer(first, answer_of(first, ""));
  answer(second, answer_of(second, ""));
  conversation.drain();
  const BodyOf draining(must_send().body);
  EXPECT_EQ(draining.json("want"), "0");
  EXPECT_EQ(draining.json("draining"), "true");
}

TEST_F(ConversationTest, a_drain_is_told_at_once_and_is_answered_at_once_when_nothing_is_held) {
  begin();
  const Request parked = must_send();
  EXPECT_NE(BodyOf(parked.body).json("wait_ms"), "0");
  EXPECT_FALSE(conversation.next(now));
  conversation.drain();
  const Request draining = must_send();
  EXPECT_EQ(BodyOf(draining.body).json("draining"), "true");
  EXPECT_EQ(BodyOf(draining.body).json("wait_ms"), "0");
  EXPECT_FALSE(conversation.next(now));
}

TEST_F(ConversationTest, work_that_arrives_during_a_drain_is_not_begun_and_given_back) {
  begin();
  const Request first = must_send();
  conversation.drain();
  EXPECT_TRUE(answer(first, answer_of(first, R"("work":[)" + work("1") + "]")).start.empty());
  const Request back = must_send();
  EXPECT_EQ(BodyOf(back.body).json("back"), R"([{"d":"1","reason":"drain"}])");
  answer(back, answer_of(back, R"("results":[{"d":"1","result":"ok"}])"));
  EXPECT_FALSE(conversation.holds_anything());
}

TEST_F(ConversationTest, work_that_arrives_after_the_farewell_is_left_to_the_server) {
  begin();
  const Request first = must_send();
  conversation.drain();
  const Request draining = must_send();
  conversation.leave();
  answer(first, answer_of(first, ""));
  const std::string late = answer_of(draining, R"("work":[)" + work("1") + "]");
  EXPECT_TRUE(answer(draining, late).start.empty());
  EXPECT_FALSE(conversation.holds_anything());
  const Request leave = must_send();
  EXPECT_EQ(leave.kind, Request::Kind::kLeave);
  answer(leave, "{}");
  EXPECT_TRUE(conversation.has_left());
}

TEST_F(ConversationTest, lines_go_before_the_result_of_their_task_or_with_it) {
  begin();
  const Request first = must_send();
  answer(first, answer_of(first, R"("work":[)" + work("1") + "]"));
  for (int i = 0; i < 2500; ++i) logs.add("1", 1, false, "x");
  end("1");
  const BodyOf body(must_send().body);
  EXPECT_EQ(body.view().find("logs")->size(), 3u);
  EXPECT_NE(body.json("done"), "absent");
}

TEST_F(ConversationTest, a_result_waits_for_a_request_that_has_room_for_its_lines) {
  begin();
  const Request first = must_send();
  std::string all;
  for (int i = 10; i < 40; ++i) all += (all.empty() ? "" : ",") + work(std::to_string(i));
  answer(first, answer_of(first, R"("work":[)" + all + "]"));
  for (int i = 10; i < 40; ++i) {
    for (int line = 0; line < 25; ++line)
      logs.add(std::to_string(i), 1, false, std::string(8000, 'x'));
    end(std::to_string(i));
  }
  std::size_t reported = 0;
  for (int requests = 0; reported < 30 && requests < 5; ++requests) {
    const Request request = must_send();
    EXPECT_LT(request.body.size(), 6u << 20);
    const BodyOf body(request.body);
    std::map<std::string, std::uint64_t> lines;
    for (const codec::View part : body.view().find("logs")->elements())
      lines[std::string(*part.find("d")->text())] += part.find("lines")->size();
    std::string results;
    for (const codec::View entry : body.view().find("done")->elements()) {
      const std::string dispatch(*entry.find("d")->text());
      EXPECT_EQ(lines[dispatch] + sent_before_[dispatch], 25u) << dispatch;
      results += (results.empty() ? "" : ",") + (R"({"d":")" + dispatch + R"(","result":"ok"})");
      ++reported;
    }
    for (const auto& [dispatch, count] : lines) sent_before_[dispatch] += count;
    answer(request, answer_of(request, R"("results":[)" + results + "]"));
  }
  EXPECT_EQ(reported, 30u);
}

TEST_F(ConversationTest, reports_of_an_earlier_process_are_held_from_the_first_session_on) {
  outbox.put("old", held_entry(EntryList::kDone, done_entry("old", Ended::ok({0xf6}), {})));
  Conversation next(options(), outbox, logs, *random);
  auto request = next.next(now);
  next.answered(request->id, {200, kEnrolled, 0}, now);
  request = next.next(now);
  EXPECT_EQ(BodyOf(request->body).json("holding"), R"(["old"])");
  EXPECT_EQ(BodyOf(request->body).json("first"), "true");
  next.answered(request->id, {200, R"({"session":"s","keep":["old"],"drop":[]})", 0}, now);
  request = next.next(now);
  EXPECT_NE(BodyOf(request->body).json("done"), "absent");
}

TEST_F(ConversationTest, a_change_of_recipes_is_told_beside_the_sync_that_is_held_back) {
  conversation.set_recipes({.serving = {"a"}, .can_swap = true});
  answer(must_send(), kEnrolledWithRecipes, 201);
  answer(must_send(), R"({"session":"s-1","seq":0,"keep":[],"drop":[],"mode":"active"})");
  const Request parked = must_send();
  EXPECT_EQ(BodyOf(parked.body).json("recipes"), R"({"serving":["a"],"can_swap":true})");
  conversation.set_recipes({.serving = {"a"}, .can_swap = true});
  EXPECT_FALSE(conversation.next(now)) << "it is the same";
  conversation.set_recipes({.swapping = "b", .can_swap = true, .problem = "no room"});
  const Request newer = must_send();
  EXPECT_EQ(BodyOf(newer.body).json("recipes"),
            R"({"problem":"no room","serving":[],"can_swap":true,"swapping":"b"})");
  EXPECT_EQ(answer(newer, answer_of(newer, R"("swap":"c")")).swap, "c");
  EXPECT_FALSE(answer(parked, answer_of(parked, R"("swap":"b")")).swap) << "it is older";
  const Request last = must_send();
  EXPECT_EQ(answer(last, answer_of(last, "")).swap, "") << "it is not wanted any more";
}

TEST_F(ConversationTest, a_worker_without_a_registry_says_nothing_of_recipes) {
  begin();
  const Request sync = must_send();
  EXPECT_EQ(BodyOf(sync.body).json("recipes"), "absent");
  EXPECT_FALSE(answer(sync, answer_of(sync, R"("swap":"b")")).swap);
}

TEST_F(ConversationTest, a_worker_with_a_registry_does_not_work_for_a_server_that_knows_none) {
  conversation.set_recipes({.serving = {"a"}});
  const News news = answer(must_send(), kEnrolled, 201);
  ASSERT_TRUE(news.fatal);
  EXPECT_EQ(news.fatal->code(), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace holdfast::work
