// SPDX-License-Identifier: Apache-2.0
// Large messages, results and errors: however many there are, a world can be put away and comes
// back, and what waits for one instance is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using testing::Bench;
using ::testing::HasSubstr;
using testing::json_of;
using testing::Machines;
using testing::value;

constexpr char kDefinitions[] = R"json([
{"$kind":"defschema","name":"l/Any@1","type":{"record":{"k":{"nat":{}},"v":{"any":{}}}}},
{"$kind":"defschema","name":"l/Nat@1","type":{"nat":{}}},
{"$kind":"defschema","name":"l/Event@1","type":{"variant":{"Any":{"ref":"l/Any@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},"Frame":{"ref":"sys/EffectStreamFrame@1"}}}},
{"$kind":"defeffect","name":"l/do@1","params":"l/Nat@1","receipt":"l/Any@1","executor":{"kind":"echo"}},
{"$kind":"defmodule","name":"l/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"l/One@1","state":"l/Nat@1","event":"l/Event@1","key_schema":"l/Nat@1",
 "effects_emitted":["l/do@1"],"impl":{"module":"l/code@1","entrypoint":"one"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"l/Any@1"},{"name":"l/Nat@1"},{"name":"l/Event@1"}],
 "modules":[{"name":"l/code@1"}],"workflows":[{"name":"l/One@1"}],"effects":[{"name":"l/do@1"}],
 "routing":{"subscriptions":[{"event":"l/Any@1","workflow":"l/One@1","key_field":"k"}]}}
])json";

constexpr std::size_t kHuge = std::size_t{15} << 20;
constexpr std::size_t kSent = 1'000'000;

class LargeValuesTest : public ::testing::Test {
 protected:
  static std::string event(int key, const std::string& json) {
    return R"({"k":)" + std::to_string(key) + R"(,"v":)" + json + "}";
  }
  static std::string text(std::size_t bytes, char fill = 'x') {
    return "\"" + std::string(bytes, fill) + "\"";
  }
  Outcome send(int key, const std::string& json) {
    return bench_.event("l/Any@1", event(key, json));
  }
  Outcome control(Control control, int key) {
    return bench_.control(control, "l/One@1", std::to_string(key));
  }
  const Cell* find(int key) { return bench_.find("l/One@1", std::to_string(key)); }
  base::ErrorCode refusal(const Outcome& outcome) {
    const auto* refused = std::get_if<Refused>(&outcome.answer);
    EXPECT_NE(refused, nullptr);
    return refused == nullptr ? base::ErrorCode::kInvalid : refused->code;
  }
  // A paused instance that has an effect open.
  base::Hash paused(int key) {
    const Outcome begun = send(key, "1");
    control(Control::kPause, key);
    return testing::opened(begun).at(0);
  }

  // A number opens an effect, a list of one sends a large message to that instance, everything else
  // is the result.
  Machines machines_{{"one", [this](const StepInput& input, StepOutput& output) {
                        heard_ += input.mail.value.size();
                        const codec::View said = codec::View::of(input.mail.value);
                        if (input.mail.kind == MailKind::kEvent && said.find("v")->nat()) {
                          output.begin_state();
                          codec::write_nat(output.bytes(), 1);
                          output.begin_effect("l/do@1");
                          return codec::write_nat(output.bytes(), 1);
                        }
                        if (input.mail.kind == MailKind::kEvent &&
                            said.find("v")->kind() == codec::ViewKind::kList) {
                          output.begin_state();
                          codec::write_nat(output.bytes(), 1);
                          output.begin_event("l/Any@1");
                          codec::write_map_head(output.bytes(), 2);
                          codec::write_text(output.bytes(), "k");
                          output.bytes().append((*said.find("v")->elements().begin()).encoded());
                          codec::write_text(output.bytes(), "v");
                          return codec::write_text(output.bytes(), std::string(kSent, 's'));
                        }
                        output.begin_result();
                        output.bytes().append(input.mail.value.size() > kMaxStepOutputBytes
                                                  ? value("1")
                                                  : input.mail.value);
                      }}};
  Bench bench_{kDefinitions, machines_};
  std::size_t heard_ = 0;
};

TEST_F(LargeValuesTest, much_large_mail_in_one_leaf_can_be_put_away_and_is_delivered_afterwards) {
  constexpr int kInstances = 3;
  for (int key = 0; key < kInstances; ++key) {
    paused(key);
    for (const char fill : {'a', 'b'}) {
      const Outcome sent = send(key, text(kHuge, fill));
      ASSERT_TRUE(std::holds_alternative<Accepted>(sent.answer));
    }
  }
  bench_.put_away();
  heard_ = 0;
  for (int key = 0; key < kInstances; ++key) {
    EXPECT_EQ(find(key)->mail.size(), 2u);
    control(Control::kResume, key);
    EXPECT_EQ(find(key)->status(), Status::kCompleted);
  }
  EXPECT_GT(heard_, kInstances * kHuge);
}

TEST_F(LargeValuesTest, many_large_results_in_one_leaf_can_be_put_away_and_are_named) {
  for (int key = 0; key < 100; ++key) {
    const std::string fill(1, static_cast<char>('0' + key % 10));
    send(key, text(1'000'000, fill[0]));
    ASSERT_EQ(find(key)->status(), Status::kCompleted);
  }
  bench_.put_away();
  const Cell* cell = find(7);
  ASSERT_TRUE(cell->outcome_blob);
  EXPECT_EQ(bench_.blobs().get(*cell->outcome_blob)->size(),
            value(event(7, text(1'000'000))).size());
  const Outcome late = send(7, "1");
  EXPECT_EQ(std::get<Accepted>(late.answer).ignored, 1u);
  EXPECT_LT(late.record.size(), 1'000u) << "the record in which it ended says the outcome";
}

TEST_F(LargeValuesTest, the_mail_of_one_instance_is_bounded_in_bytes_and_answers_are_admitted) {
  const base::Hash intent = paused(1);
  for (int i = 0; i < 2; ++i) send(1, text(kHuge));
  EXPECT_EQ(refusal(send(1, text(kHuge))), base::ErrorCode::kUnavailable);
  EXPECT_EQ(refusal(bench_.progress(intent, 1, text(kHuge))), base::ErrorCode::kUnavailable);
  EXPECT_TRUE(std::holds_alternative<Accepted>(send(2, "1").answer)) << "others have room";
  EXPECT_TRUE(
      std::holds_alternative<Accepted>(bench_.receipt(intent, event(1, text(kHuge))).answer));
  EXPECT_EQ(find(1)->mail.size(), 3u);
  const std::size_t before = find(1)->mail.bytes();
  bench_.put_away();
  EXPECT_EQ(find(1)->mail.bytes(), before);
  EXPECT_EQ(refusal(send(1, text(kHuge))), base::ErrorCode::kUnavailable) << "as before";
  EXPECT_TRUE(std::holds_alternative<Accepted>(send(1, "1").answer)) << "answers need no room";
}

TEST_F(LargeValuesTest, mail_of_paused_instances_takes_no_room_from_others) {
  // Little of it stays in memory, and equal values are one blob.
  testing::MemoryBlobs blobs;
  const WorldOptions options{{4, std::size_t{1} << 20}, nullptr};
  World world(machines_, blobs, options);
  const auto reduce = [&](decltype(Tick::input) input) {
    Tick tick;
    tick.input = input;
    return world.reduce(tick);
  };
  const base::Bytes definitions = testing::document(kDefinitions);
  reduce(ApplyManifest{definitions});
  const base::Bytes small = value(event(0, "1"));
  const base::Bytes huge = value(event(0, text(kHuge)));
  const auto send_to = [&](int key, base::ByteView sent) {
    const base::Bytes name = value(std::to_string(key));
    return reduce(EventArrived{"l/Any@1", sent, "", "l/One@1", name});
  };
  const auto tell = [&](int key, Control what) {
    const base::Bytes name = value(std::to_string(key));
    return reduce(ControlRequested{what, "l/One@1", name, ""});
  };
  send_to(60, value(event(60, "\"the end\"")));
  constexpr int kInstances = 34;  // 30 MiB for each: another 15 MiB pass a GiB
  std::vector<base::Hash> intents;
  for (int key = 0; key < kInstances; ++key) {
    intents.push_back(testing::opened(send_to(key, small)).at(0));
    tell(key, Control::kPause);
    for (int i = 0; i < 2; ++i) {
      const Outcome sent = send_to(key, huge);
      ASSERT_TRUE(std::holds_alternative<Accepted>(sent.answer)) << key;
    }
  }
  send_to(50, value(event(50, "1")));
  tell(50, Control::kPause);
  ASSERT_TRUE(std::holds_alternative<Accepted>(send_to(50, value(event(50, "[51]"))).answer));
  EXPECT_TRUE(std::holds_alternative<Accepted>(send_to(99, huge).answer)) << "of another one";
  EXPECT_EQ(refusal(send_to(0, huge)), base::ErrorCode::kUnavailable) << "of its own it has enough";
  const Outcome ignored = send_to(60, huge);
  ASSERT_TRUE(std::holds_alternative<Accepted>(ignored.answer)) << "what has ended needs no room";
  EXPECT_EQ(std::get<Accepted>(ignored.answer).ignored, 1u);
  auto again = World::restore(machines_, blobs, *world.snapshot(), options);
  ASSERT_TRUE(again);
  world = std::move(*again);
  EXPECT_TRUE(std::holds_alternative<Accepted>(send_to(98, huge).answer)) << "as before";
  EXPECT_TRUE(std::holds_alternative<Accepted>(
      reduce(ReceiptArrived{intents[0], ReceiptStatus::kOk, huge, {}, {}}).answer));
  tell(50, Control::kResume);
  const base::Bytes sender = value("50");
  const base::Bytes receiver = value("51");
  EXPECT_EQ((*world.find("l/One@1", sender))->status(), Status::kWaiting);
  ASSERT_NE(*world.find("l/One@1", receiver), nullptr);
  EXPECT_EQ((*world.find("l/One@1", receiver))->status(), Status::kCompleted);
  tell(0, Control::kResume);
  tell(1, Control::kCancel);
  EXPECT_TRUE(std::holds_alternative<Accepted>(send_to(97, huge).answer));
}

TEST_F(LargeValuesTest, what_waits_for_a_turn_is_bounded_for_all_and_what_is_parked_for_itself) {
  WorldState world(machines_, bench_.blobs(), {});
  Cell paused;
  paused.paused = true;
  Target target;
  target.bytes = 1000;
  const auto has_room_at = [&](std::size_t ready, std::size_t parked) {
    world.ready_bytes = ready;
    world.mail_bytes = ready + parked;
    Refused refusal;
    Targets none;
    return has_room(world, target, none, refusal);
  };
  EXPECT_TRUE(has_room_at(kMaxMailBytes - 1000, kMaxParkedMailBytes));
  EXPECT_FALSE(has_room_at(kMaxMailBytes - 999, 0));
  target.cell = &paused;
  EXPECT_TRUE(has_room_at(kMaxMailBytes, kMaxParkedMailBytes - 1000));
  EXPECT_FALSE(has_room_at(0, kMaxParkedMailBytes - 999));
}

TEST_F(LargeValuesTest, a_step_waits_for_room_in_the_world_while_others_have_turns) {
  WorldState world(machines_, bench_.blobs(), {});
  Cell sender;
  Plan plan;
  Target target;
  target.bytes = 1000;
  plan.targets.add(target);
  const auto verdict_at = [&](std::size_t ready, std::size_t parked) {
    world.ready_bytes = ready;
    world.mail_bytes = ready + parked;
    return room_for(world, sender, Mail(), plan).verdict;
  };
  EXPECT_EQ(verdict_at(kMaxMailBytesWithEmitted - 1000, 0), Room::Verdict::kYes);
  EXPECT_EQ(verdict_at(kMaxMailBytesWithEmitted - 999, 0), Room::Verdict::kWaits);
  EXPECT_EQ(verdict_at(kMaxMailBytesWithEmitted, kMaxParkedMailBytes + 1), Room::Verdict::kNever);
}

TEST_F(LargeValuesTest, small_values_stay_in_the_index) {
  paused(1);
  send(1, text(100));
  send(2, text(100));
  bench_.put_away();
  EXPECT_FALSE((*find(1)->mail.begin()).away);
  EXPECT_FALSE(find(2)->outcome_blob);
  bench_.expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
