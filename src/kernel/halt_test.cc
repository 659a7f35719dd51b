// SPDX-License-Identifier: Apache-2.0
// Steps that cannot come to their end, and questions whose answer cannot be read: only the instance
// that is concerned stops, and a replay comes to the same.
#include "kernel/halt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/record_view.h"
#include "kernel/snapshot_parts.h"
#include "kernel/testing.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using testing::Bench;
using ::testing::ElementsAre;
using testing::Machines;
using testing::value;

constexpr char kHaltDefinitions[] = R"json([
{"$kind":"defschema","name":"h/Say@1","type":{"record":{"k":{"nat":{}},"v":{"any":{}}}}},
{"$kind":"defschema","name":"h/Nat@1","type":{"nat":{}}},
{"$kind":"defschema","name":"h/Any@1","type":{"any":{}}},
{"$kind":"defmodule","name":"h/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"h/One@1","state":"h/Any@1","event":"h/Say@1","key_schema":"h/Nat@1",
 "effects_emitted":[],"impl":{"module":"h/code@1","entrypoint":"one"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"h/Say@1"},{"name":"h/Nat@1"},{"name":"h/Any@1"}],
 "modules":[{"name":"h/code@1"}],"workflows":[{"name":"h/One@1"}],"effects":[],
 "routing":{"subscriptions":[{"event":"h/Say@1","workflow":"h/One@1","key_field":"k"}]}}
])json";

class HaltTest : public ::testing::Test {
 protected:
  static std::string text(std::size_t bytes) { return "\"" + std::string(bytes, 'x') + "\""; }

  Outcome say(int key, const std::string& json) {
    return bench_.event("h/Say@1", R"({"k":)" + std::to_string(key) + R"(,"v":)" + json + "}");
  }
  Outcome control(Control control, int key) {
    return bench_.control(control, "h/One@1", std::to_string(key));
  }
  const Cell* find(int key) { return bench_.find("h/One@1", std::to_string(key)); }
  std::vector<HaltKind> halts(const Outcome& outcome) {
    EXPECT_FALSE(outcome.failure) << outcome.failure->to_string();
    const auto record = read_record(outcome.record);
    EXPECT_TRUE(record);
    std::vector<HaltKind> kinds;
    for (const Halt& halt : record->tick.halts) kinds.push_back(halt.kind);
    return kinds;
  }

  // An instance whose state is only in a blob, and the blob is gone.
  base::Hash lose_state_of(int key) {
    say(key, text(5000));
    bench_.put_away();
    const base::Hash blob = find(key)->state_blob.value();
    lost_ = *bench_.blobs().get(blob);
    bench_.blobs().lose(blob);
    return blob;
  }
  // The journal, replayed by a program that has enough of everything.
  void expect_replays() {
    const bool gives_up = std::exchange(gives_up_, false);
    static_cast<void>(bench_.blobs().put(lost_));
    bench_.expect_replays();
    gives_up_ = gives_up;
  }

  // Keeps what it was told last. `true` ends it.
  Machines machines_{{"one", [this](const StepInput& input, StepOutput& output) {
                        ++steps_;
                        if (gives_up_) return output.give_up();
                        const codec::View said = *codec::View::of(input.mail.value).find("v");
                        if (said.boolean()) {
                          output.begin_result();
                        } else {
                          output.begin_state();
                        }
                        output.bytes().append(said.encoded());
                      }}};
  Bench bench_{kHaltDefinitions, machines_};
  base::Bytes lost_;
  bool gives_up_ = false;
  int steps_ = 0;
};

TEST_F(HaltTest, a_step_without_memory_pauses_its_instance_before_the_message) {
  say(1, "1");
  say(2, "1");
  gives_up_ = true;
  const Outcome outcome = say(1, "2");
  EXPECT_THAT(halts(outcome), ElementsAre(HaltKind::kOutOfMemory));
  EXPECT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  const auto record = read_record(outcome.record);
  EXPECT_EQ(record->notes.at(0).at(0), "step.out_of_memory");
  EXPECT_TRUE(record->instances.at(0).paused);
  EXPECT_TRUE(find(1)->paused);
  EXPECT_EQ(find(1)->mail.size(), 1u);
  EXPECT_EQ(testing::json_of(find(1)->state), "1");
  gives_up_ = false;
  say(2, "2");
  EXPECT_EQ(testing::json_of(find(2)->state), "2") << "the world goes on";
  expect_replays();
}

TEST_F(HaltTest, resuming_tries_the_same_message_again_and_later_ones_after_it) {
  gives_up_ = true;
  say(1, "1");
  say(1, "2");
  say(1, "true");
  EXPECT_EQ(find(1)->mail.size(), 3u);
  EXPECT_THAT(halts(control(Control::kResume, 1)), ElementsAre(HaltKind::kOutOfMemory));
  EXPECT_TRUE(find(1)->paused);
  gives_up_ = false;
  steps_ = 0;
  control(Control::kResume, 1);
  EXPECT_EQ(steps_, 3);
  EXPECT_EQ(find(1)->status(), Status::kCompleted);
  expect_replays();
}

TEST_F(HaltTest, one_that_was_halted_is_the_same_after_a_snapshot_and_can_be_cancelled) {
  gives_up_ = true;
  say(1, text(5000));
  bench_.put_away();
  EXPECT_TRUE(find(1)->paused);
  EXPECT_EQ(find(1)->mail.size(), 1u);
  control(Control::kCancel, 1);
  EXPECT_EQ(find(1)->status(), Status::kCancelled);
}

TEST_F(HaltTest, a_replay_that_has_not_enough_memory_says_so_and_records_nothing_else) {
  say(1, "1");
  gives_up_ = true;
  World world(machines_, bench_.blobs());
  ASSERT_TRUE(world.replay(bench_.journal().at(0)));
  const auto replayed = world.replay(bench_.journal().at(1));
  ASSERT_FALSE(replayed);
  EXPECT_EQ(replayed.error().code(), base::ErrorCode::kUnavailable);
}

TEST_F(HaltTest, a_damaged_state_answers_the_question_with_an_error_and_the_world_goes_on) {
  lose_state_of(1);
  for (int i = 0; i < 2; ++i) {
    const auto read = bench_.world().read("h/One@1", value("1"));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), base::ErrorCode::kNotFound);
  }
  EXPECT_FALSE(say(2, "1").failure);
  EXPECT_TRUE(bench_.world().read("h/One@1", value("2")));
  EXPECT_TRUE(bench_.world().why("h/One@1", value("1")));
}

TEST_F(HaltTest, a_damaged_index_answers_the_question_with_an_error_and_ends_the_first_tick_on_it) {
  say(1, "1");
  const base::Bytes snapshot = *bench_.world().snapshot();
  World world = *World::restore(machines_, bench_.blobs(), snapshot);
  bench_.blobs().lose(read_snapshot(snapshot)->workflows.at(0).index.root());
  EXPECT_FALSE(world.find("h/One@1", value("1")));
  EXPECT_FALSE(world.find("h/One@1", value("1"))) << "and again, in the same words";
  Tick tick;
  const base::Bytes event = value(R"({"k":1,"v":1})");
  tick.input = EventArrived{"h/Say@1", event, ""};
  EXPECT_TRUE(world.reduce(tick).failure);
}

TEST_F(HaltTest, a_damaged_state_pauses_only_the_instance_whose_step_needs_it) {
  const base::Hash blob = lose_state_of(1);
  const Outcome outcome = say(1, "2");
  EXPECT_THAT(halts(outcome), ElementsAre(HaltKind::kUnreadable, HaltKind::kStateUnread));
  EXPECT_EQ(read_record(outcome.record)->instances.at(0).state_hash, blob);
  EXPECT_TRUE(find(1)->paused);
  EXPECT_EQ(find(1)->mail.size(), 1u);
  EXPECT_FALSE(say(2, "1").failure);
  expect_replays();
}

TEST_F(HaltTest, an_instance_with_a_damaged_state_can_be_paused_resumed_and_cancelled) {
  lose_state_of(1);
  EXPECT_THAT(halts(control(Control::kPause, 1)), ElementsAre(HaltKind::kStateUnread));
  EXPECT_THAT(halts(control(Control::kResume, 1)), ElementsAre(HaltKind::kStateUnread));
  EXPECT_THAT(halts(control(Control::kCancel, 1)), ElementsAre(HaltKind::kStateUnread));
  EXPECT_THAT(halts(say(1, "1")), ElementsAre(HaltKind::kStateUnread)) << "it is ignored";
  EXPECT_EQ(find(1)->status(), Status::kCancelled);
  expect_replays();
}

TEST_F(HaltTest, a_state_whose_blob_is_there_again_goes_on_when_it_is_resumed) {
  lose_state_of(1);
  say(1, "true");
  static_cast<void>(bench_.blobs().put(lost_));
  control(Control::kResume, 1);
  EXPECT_EQ(find(1)->status(), Status::kCompleted);
  expect_replays();
}

// A store that gives other bytes is not to be trusted with anything.
TEST_F(HaltTest, a_message_that_is_another_one_ends_the_world) {
  int number = 0;
  for (const std::size_t size : {2000u, 6000u}) {
    say(++number, "1");
    control(Control::kPause, number);
    say(number, text(5000));
    const base::Bytes snapshot = *bench_.world().snapshot();
    World world = *World::restore(machines_, bench_.blobs(), snapshot);
    const base::Bytes key = value(std::to_string(number));
    const Cell* cell = *world.find("h/One@1", key);
    bench_.blobs().exchange((*cell->mail.begin()).away.value().blob, base::Bytes(size, 0xbb));
    Tick tick;
    tick.input = ControlRequested{Control::kResume, "h/One@1", key, ""};
    const Outcome outcome = world.reduce(tick);
    ASSERT_TRUE(outcome.failure);
    EXPECT_THAT(outcome.failure->to_string(), ::testing::HasSubstr("mail in a blob does not fit"));
  }
}

TEST_F(HaltTest, a_damaged_message_pauses_its_instance) {
  say(1, "1");
  control(Control::kPause, 1);
  say(1, text(5000));
  bench_.put_away();
  const base::Hash blob = (*find(1)->mail.begin()).away.value().blob;
  lost_ = *bench_.blobs().get(blob);
  bench_.blobs().lose(blob);
  EXPECT_THAT(halts(control(Control::kResume, 1)), ElementsAre(HaltKind::kUnreadable));
  EXPECT_TRUE(find(1)->paused);
  static_cast<void>(bench_.blobs().put(lost_));
  control(Control::kResume, 1);
  EXPECT_EQ(testing::json_of(find(1)->state), text(5000));
  expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
