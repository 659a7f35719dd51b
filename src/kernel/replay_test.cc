// SPDX-License-Identifier: Apache-2.0
// Every record that is made can be replayed, however deep and large its values are; a record that
// was changed gives an error, whatever it was changed into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/limits.h"
#include "kernel/testing.h"

namespace holdfast::kernel {
namespace {

using testing::Bench;
using ::testing::HasSubstr;
using testing::Machines;
using testing::value;

constexpr char kDeep[] = R"json([
{"$kind":"defschema","name":"d/Any@1","type":{"record":{"k":{"nat":{}},"v":{"any":{}}}}},
{"$kind":"defschema","name":"d/Nat@1","type":{"nat":{}}},
{"$kind":"defeffect","name":"d/do@1","params":"d/Any@1","receipt":"d/Any@1","executor":{"kind":"echo"}},
{"$kind":"defmodule","name":"d/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"d/Once@1","state":"d/Any@1","event":"d/Any@1","key_schema":"d/Nat@1","annotations":"d/Any@1",
 "effects_emitted":["d/do@1"],"impl":{"module":"d/code@1","entrypoint":"once"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"d/Any@1"},{"name":"d/Nat@1"}],
 "modules":[{"name":"d/code@1"}],"workflows":[{"name":"d/Once@1"}],"effects":[{"name":"d/do@1"}],
 "routing":{"subscriptions":[{"event":"d/Any@1","workflow":"d/Once@1","key_field":"k"}]}}
])json";

std::string event(int key, const std::string& json) {
  return R"({"k":)" + std::to_string(key) + R"(,"v":)" + json + "}";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string large(std::size_t bytes) { return "\"" + std::string(bytes, 'x') + "\""; }

// Puts the event that it gets wherever a step may put a value; the key says where.
enum Where { kState = 1, kEffect = 2, kResult = 3 };

void once(const StepInput& input, StepOutput& output) {
  const auto key = *codec::View::of(input.mail.value).find("k")->nat();
  if (key < kResult) output.begin_state();
  if (key == kEffect) {
    output.bytes().append(input.mail.value);
    output.begin_annotation();
    output.bytes().append(input.mail.value);
    output.begin_effect("d/do@1");
  }
  if (key >= kResult) output.begin_result();
  output.bytes().append(input.mail.value);
}

class ReplayTest : public ::testing::Test {
 protected:
  Outcome send(int key, const std::string& json) {
    Outcome outcome = bench_.event("d/Any@1", event(key, json));
    EXPECT_FALSE(outcome.record.empty());
    return outcome;
  }

  Machines machines_{{"once", once}};
  Bench bench_{kDeep, machines_};
};

TEST_F(ReplayTest, values_may_nest_as_deep_as_values_may) {
  for (const int where : {kState, kEffect, kResult}) send(where, nested(codec::kMaxDepth - 1));
  EXPECT_EQ(bench_.find("d/Once@1", "2")->intents.size(), 1u);
  EXPECT_EQ(bench_.find("d/Once@1", "3")->status(), Status::kCompleted);
  bench_.expect_replays();
}

TEST_F(ReplayTest, values_may_be_as_large_as_values_may) {
  send(kState, large(codec::kMaxValueBytes - 32));
  bench_.put_away();
  bench_.expect_replays();
}

TEST_F(ReplayTest, much_mail_and_many_results_can_be_put_away) {
  constexpr std::size_t kMuch = codec::kMaxValueBytes / 16 - 100;
  send(kState, "0");
  bench_.control(Control::kPause, "d/Once@1", "1");
  for (int i = 0; i < 17; ++i) send(kState, large(kMuch));
  for (int i = 0; i < 17; ++i) send(kResult + i, large(kMuch));
  bench_.put_away();
  EXPECT_EQ(bench_.find("d/Once@1", "1")->mail.size(), 17u);
  EXPECT_EQ(bench_.find("d/Once@1", "3")->status(), Status::kCompleted);
  bench_.expect_replays();
}

// What a record may have been changed into: canonical, but of any form.
class ChangedRecord : public ReplayTest {
 protected:
  ChangedRecord() { send(kState, "1"); }

  // The record with other fields behind its tick.
  std::string replay_with(std::string_view fields) {
    base::Bytes record{0xd9, 0xd9, 0xf7};
    const base::Bytes tail = value("[" + std::string(fields) + "]");
    const codec::View good = codec::View::of(bench_.journal().back());
    codec::Buffer made;
    codec::write_list_head(made, 5 + codec::View::of(tail).size());
    auto field = good.elements().begin();
    for (int i = 0; i < 5; ++i, ++field) made.append((*field).encoded());
    for (const codec::View element : codec::View::of(tail).elements())
      made.append(element.encoded());
    record.insert(record.end(), made.view().begin(), made.view().end());
    World world(machines_, bench_.blobs());
    EXPECT_TRUE(world.replay(bench_.journal()[0]));
    const auto outcome = world.replay(record);
    return outcome ? "replayed" : outcome.error().to_string();
  }
};

TEST_F(ChangedRecord, of_another_form_gives_an_error) {
  for (const char* fields : {"", "1", "[]", "[1]", "[[]]", R"([["d/Once@1"]])",
                             R"([["d/Once@1",7]])", "{}", "[],[],[]"}) {
    EXPECT_THAT(replay_with(fields), HasSubstr("another one now")) << fields;
  }
  // What stands behind the notes is read before the record is replayed.
  for (const char* fields : {"[[1,2,3]],[],[],[]", "[],[],[],1", "[],[],[],[[9,0,\"\"]]",
                             "[],[],[],[[0,0]]", "[],[],[],[[0,0,\"\"]],[]"}) {
    EXPECT_THAT(replay_with(fields), HasSubstr("not well formed")) << fields;
  }
  EXPECT_THAT(replay_with("[],[],[],[[0,7,\"\"]]"), HasSubstr("another one now"));
}

TEST_F(ReplayTest, a_world_that_came_to_another_end_cannot_be_used) {
  send(kState, "1");
  const base::Bytes& good = bench_.journal()[1];
  base::Bytes changed(good.size() + 1, 0x60);  // an empty text, in the list of notes, which is last
  std::copy(good.begin(), good.end(), changed.begin());
  changed[good.size() - 1] = 0x81;
  World world(machines_, bench_.blobs());
  ASSERT_TRUE(world.replay(bench_.journal()[0]));
  const auto replayed = world.replay(changed);
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().to_string(), HasSubstr("record 2: its outcome is another one now"));
  EXPECT_EQ(world.snapshot().error().to_string(), replayed.error().to_string());
  Tick tick;
  tick.input = Continue{};
  EXPECT_TRUE(world.reduce(tick).failure);
  EXPECT_FALSE(world.find("d/Once@1", value("1")));
}

}  // namespace
}  // namespace holdfast::kernel
