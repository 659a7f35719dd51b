// SPDX-License-Identifier: Apache-2.0
// Mail for which there is no room: from outside it is refused, and an instance that sends it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "kernel/limits.h"
#include "kernel/plan.h"
#include "kernel/record.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::emit;
using ::testing::HasSubstr;
using testing::kStopToKeyed;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::number;
using testing::state;

// lab/Numbered@1 sends a lab/Stop@1 to lab/Keyed@1 "a" for each lab/Go@1 that it hears.
class RoomTest : public testing::LabTest {
 protected:
  RoomTest() {
    numbered_ = [](const StepInput& input, StepOutput& output) {
      state(output, number(input));
      emit(output, "lab/Stop@1", R"({"id":"a"})");
    };
    begin(std::string(kToNumbered) + "," + kStopToKeyed);
  }
  // "a" is paused, and its mailbox is full.
  void fill() {
    stop("a");
    pause("a");
    for (std::size_t i = 0; i < kMaxMailPerInstance; ++i) ASSERT_TRUE(is_accepted(stop("a")));
  }
  Outcome stop(std::string_view id) {
    return bench().event("lab/Stop@1", R"({"id":")" + std::string(id) + "\"}");
  }
  void pause(std::string_view id) {
    bench().control(Control::kPause, "lab/Keyed@1", "\"" + std::string(id) + "\"");
  }
  Outcome resume(std::string_view id) {
    return bench().control(Control::kResume, "lab/Keyed@1", "\"" + std::string(id) + "\"");
  }
  void go_on() {
    while (bench().world().has_ready()) bench().tick(Continue{});
  }
  static bool is_accepted(const Outcome& outcome) {
    return std::holds_alternative<Accepted>(outcome.answer);
  }
  const Cell* sender(int n) { return bench().find("lab/Numbered@1", std::to_string(n)); }
  std::vector<Reason> why(int n) {
    const auto reasons = bench().world().why("lab/Numbered@1", testing::value(std::to_string(n)));
    return reasons ? *reasons : std::vector<Reason>();
  }
};

TEST_F(RoomTest, whoever_sends_to_a_full_mailbox_waits_and_goes_on_when_there_is_room) {
  fill();
  for (int n = 1; n <= 3; ++n) {
    EXPECT_TRUE(is_accepted(send("x", static_cast<std::uint64_t>(n)))) << n;
    ASSERT_EQ(sender(n)->mail.size(), 1u);
    EXPECT_EQ(sender(n)->status(), Status::kRunning) << "it has not failed";
    EXPECT_FALSE(sender(n)->has_state) << "nothing of its step is kept";
  }
  ASSERT_EQ(why(2).size(), 1u);
  EXPECT_EQ(std::get<WaitsForRoom>(why(2)[0]).workflow, "lab/Keyed@1");
  EXPECT_EQ(std::get<WaitsForRoom>(why(2)[0]).key, testing::value(R"("a")"));
  EXPECT_FALSE(bench().world().has_ready()) << "nobody is to be stepped in vain";
  bench().put_away();
  resume("a");
  go_on();
  EXPECT_TRUE(keyed("a")->mail.empty());
  for (int n = 1; n <= 3; ++n) EXPECT_TRUE(sender(n)->has_state) << n;
  EXPECT_TRUE(is_accepted(send("x", 4)));
  bench().expect_replays();
}

TEST_F(RoomTest, those_who_wait_are_served_in_their_order_and_before_others) {
  std::vector<std::uint64_t> served;
  fill();
  for (std::uint64_t n = 1; n <= 5; ++n) send("x", n);
  numbered_ = [&](const StepInput& input, StepOutput& output) {
    if (keyed("a") == nullptr || keyed("a")->mail.counted() < kMaxMailPerInstance)
      served.push_back(number(input));
    state(output, number(input));
    emit(output, "lab/Stop@1", R"({"id":"a"})");
  };
  resume("a");
  go_on();
  EXPECT_THAT(served, ::testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(RoomTest, a_sender_that_waits_can_be_paused_cancelled_and_resumed) {
  fill();
  for (std::uint64_t n = 1; n <= 3; ++n) send("x", n);
  bench().control(Control::kCancel, "lab/Numbered@1", "1");
  bench().control(Control::kPause, "lab/Numbered@1", "2");
  EXPECT_TRUE(std::holds_alternative<IsPaused>(why(2).at(0)));
  resume("a");
  go_on();
  EXPECT_TRUE(sender(3)->has_state) << "it does not wait behind one that is paused";
  EXPECT_EQ(sender(2)->mail.size(), 1u);
  bench().control(Control::kResume, "lab/Numbered@1", "2");
  EXPECT_TRUE(sender(2)->has_state);
  EXPECT_EQ(sender(1)->status(), Status::kCancelled);
  bench().expect_replays();
}

TEST_F(RoomTest, an_instance_that_ends_lets_all_go_on_that_waited_for_its_room) {
  fill();
  for (std::uint64_t n = 1; n <= 5; ++n) send("x", n);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  go_on();
  for (int n = 1; n <= 5; ++n) EXPECT_TRUE(sender(n)->has_state) << n;
  bench().expect_replays();
}

TEST_F(RoomTest, an_event_from_outside_is_refused_and_names_who_has_no_room) {
  fill();
  const Outcome outcome = stop("a");
  const auto* refused = std::get_if<Refused>(&outcome.answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(refused->message, R"(too much mail waits for lab/Keyed@1 "a", which is paused)");
  EXPECT_TRUE(is_accepted(stop("b"))) << "others have room";
}

// How many messages it has heard.
std::uint64_t heard_by(const std::optional<base::ByteView>& state) {
  return state ? *codec::View::of(*state).find("n")->nat() : 0;
}
std::uint64_t heard_by(const Cell* cell) { return heard_by(base::ByteView(cell->state)); }

TEST_F(RoomTest, an_instance_that_sends_to_itself_goes_on_beyond_the_limit) {
  begin(kToKeyed);
  // For a number it sends two of the next smaller one.
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, heard_by(input.state) + 1);
    if (number(input) == 0) return;
    for (int i = 0; i < 2; ++i) emit(output, "lab/Go@1", go("k", number(input) - 1));
  };
  send("k", 14);  // 2^14 at once: twice the limit
  go_on();
  EXPECT_EQ(heard_by(keyed("k")), (1u << 15) - 1);
  EXPECT_TRUE(keyed("k")->mail.empty());
  bench().expect_replays();
}

TEST_F(RoomTest, instances_that_fill_each_others_mailboxes_go_on) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, heard_by(input.state) + 1);
    const bool is_a = input.context.key()[1] == 'a';
    if (number(input) == 0) return;
    for (int i = 0; i < 2; ++i) emit(output, "lab/Go@1", go(is_a ? "b" : "a", number(input) - 1));
  };
  send("a", 14);
  send("b", 14);
  go_on();
  EXPECT_TRUE(keyed("a")->mail.empty());
  EXPECT_TRUE(keyed("b")->mail.empty());
  EXPECT_EQ(heard_by(keyed("a")) + heard_by(keyed("b")), 2 * ((1u << 15) - 1));
  bench().expect_replays();
}

// One that is longer than a way that is followed at every step. "f0" fills the mailbox of "n0"
// beyond what a circle may have, and each of these sends to the next one.
TEST_F(RoomTest, a_long_circle_of_full_mailboxes_does_not_wait_for_ever) {
  constexpr std::uint64_t kMany = Waiting::kMostInARow + 36;
  const auto name = [](std::uint64_t i) { return "n" + std::to_string(i % kMany); };
  bench_.emplace(testing::lab(kToKeyed), machines_,
                 WorldOptions{.cells = {}, .mail_per_instance = 2});
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    state(output, heard_by(input.state) + 1);
    if (number(input) == 0) return;
    const std::string key = testing::json_of(input.context.key());
    const std::uint64_t own = std::stoull(key.substr(2));
    const std::string to = key[1] == 'f' ? name(own) : name(own + 1);
    for (int i = 0; i < 16; ++i) emit(output, "lab/Go@1", go(to, number(input) - 1));
  };
  for (std::uint64_t i = 0; i < kMany; ++i) {
    send(name(i), 0);
    pause(name(i));
    send("f" + std::to_string(i), 2);
    ASSERT_EQ(keyed(name(i))->mail.size(), 16u);
  }
  for (std::uint64_t i = 0; i < kMany; ++i) resume(name(i));
  go_on();
  std::size_t failed = 0;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const Cell* cell = keyed(name(i));
    EXPECT_TRUE(cell->terminal() || cell->mail.empty()) << i << " waits for ever";
    if (!cell->terminal()) continue;
    ++failed;
    EXPECT_EQ(error_of(cell), "step.too_much_mail");
  }
  EXPECT_EQ(failed, 1u);
  bench().expect_replays();
}

TEST_F(RoomTest, a_flood_of_its_own_mail_fails_the_instance_that_sends_it) {
  begin(kToKeyed);
  keyed_ = [&](const StepInput&, StepOutput& output) {
    state(output, 1);
    for (int i = 0; i < 200; ++i) emit(output, "lab/Go@1", go("k", 1));
  };
  send("k", 1);
  go_on();
  EXPECT_EQ(error_of(keyed("k")), "step.too_much_mail");
  EXPECT_THAT(testing::json_of(keyed("k")->outcome), HasSubstr("more mail than they take"));
  bench().expect_replays();
}

TEST_F(RoomTest, what_is_given_up_needs_no_room) {
  begin(kToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, 1);
    if (input.mail.kind != MailKind::kEvent) return;
    if (number(input) == 2) return output.stop_effects("x");
    for (int i = 0; i < 64; ++i) testing::open(output, "lab/work@1", R"({"a":1})", {}, "x");
  };
  for (std::size_t i = 0; i < kMaxMailPerInstance / 64; ++i) send("a", 1);
  // All of them are settled by one step, whose mail it is behind.
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  send("a", 2);
  resume("a");
  EXPECT_EQ(bench().world().open_intents(), 0u);
  const Cell* cell = keyed("a");
  EXPECT_GT(cell->mail.size(), kMaxMailPerInstance / 2);
  EXPECT_EQ(cell->mail.counted(), 0u);
  EXPECT_TRUE(is_accepted(send("a", 3)));
}

TEST_F(RoomTest, one_event_to_more_than_a_thousand_targets_is_summed_up_once) {
  Targets planned;
  Target target{0};
  target.bytes = 1;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    target.id.bytes[0] = static_cast<std::uint8_t>(i % 3);
    planned.add(target);
    EXPECT_EQ(planned.for_instance_of(target).messages, i / 3 + 1);
  }
}

// Written by the last program under which a step failed for want of room: its 1028th record.
constexpr char kRecordOfBefore[] =
    "d9d9f788011904041b000000ef5993280050040404040404040404040404040404048700686c61622f476f4031a261"
    "6e026269646178606040f4818c6e6c61622f4e756d62657265644031410200666661696c6564f4f6a464636f646578"
    "18737465702e756e64656c6976657261626c655f6576656e746764657461696c73f6676d6573736167657834746f6f"
    "206d756368206d61696c20776169747320666f7220616e20696e7374616e6365206f6620276c61622f4b6579656440"
    "312769726574727961626c65f401008080808080";

TEST_F(RoomTest, a_record_of_before_is_replayed_by_the_rule_of_before) {
  send("x", 1);
  pause("a");
  for (int i = 0; i < 1024; ++i) send("x", 1);
  World world = bench().replayed();
  const auto outcome = world.replay(*base::from_hex(kRecordOfBefore));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  // The same event is served now, and says by which rules.
  const Outcome now = send("x", 2);
  EXPECT_TRUE(sender(2)->has_state);
  const auto record = read_record(now.record);
  ASSERT_EQ(record->notes.size(), 1u);
  EXPECT_EQ(record->notes[0].at(0), kRules2);
  bench().expect_replays();
}

// lab/Keyed@1 "h" opens an effect for a 1, and holds every other event back.
TEST_F(RoomTest, an_instance_that_holds_events_back_takes_answers_first) {
  begin(kToKeyed);
  std::vector<std::string> heard;
  bool holds = true;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const bool is_event = input.mail.kind == MailKind::kEvent;
    if (is_event && number(input) != 1 && input.can_hold && holds) return output.hold_event();
    heard.push_back(is_event ? std::to_string(number(input)) : "answer");
    state(output, 1);
    if (is_event && number(input) == 1) testing::open(output, "lab/work@1", R"({"a":1})");
  };
  const auto intents = testing::opened(send("h", 1));
  for (const std::uint64_t n : {2u, 3u}) EXPECT_TRUE(is_accepted(send("h", n)));
  EXPECT_EQ(keyed("h")->mail.size(), 2u);
  EXPECT_FALSE(bench().world().has_ready());
  const auto reasons = bench().world().why("lab/Keyed@1", testing::value(R"("h")"));
  EXPECT_EQ(std::get<HoldsEvents>(reasons->at(0)).mail, 2u);
  bench().put_away();
  EXPECT_TRUE(is_accepted(bench().receipt(intents.at(0), R"({"ok":true})")));
  EXPECT_THAT(heard, ::testing::ElementsAre("1", "answer", "2", "3"))
      << "nothing is open any more, so nothing can be waited for";
  heard.clear();
  bench().expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
