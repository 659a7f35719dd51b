// SPDX-License-Identifier: Apache-2.0
// Design: "Records and replay".
#include "kernel/record.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::emit;
using testing::json_of;
using testing::kToKeyed;
using testing::LabTest;
using testing::number;
using testing::open;
using testing::opened;
using testing::state;
using testing::value;

class RecordTest : public LabTest {};

// The field of a list.
codec::View at(codec::View list, std::size_t index) {
  auto it = list.elements().begin();
  while (index-- > 0) ++it;
  return *it;
}

base::Hash hash_of(std::string_view json) {
  return base::sha256(base::Bytes{0xd9, 0xd9, 0xf7}, value(json));
}

TEST_F(RecordTest, holds_the_tick_and_for_every_instance_its_previous_record_state_and_status) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 3)).at(0);
  bench().event("lab/Unheard@1", "{}");
  const Outcome outcome = bench().receipt(intent, R"({"ok":true})");
  const codec::View record = codec::View::of(outcome.record);
  EXPECT_EQ(at(record, 0).nat(), kRecordVersion);
  EXPECT_EQ(at(record, 1).nat(), 4u);
  EXPECT_EQ(at(record, 2).nat(), 4'000'000'000u);
  EXPECT_EQ(at(record, 3).bytes()->size(), 16u);
  EXPECT_EQ(at(at(record, 4), 0).nat(), 1u) << "a receipt";
  const codec::View instance = at(at(record, 5), 0);
  EXPECT_EQ(at(instance, 0).text(), "lab/Keyed@1");
  EXPECT_EQ(json_of(*at(instance, 1).bytes()), R"("a")");
  EXPECT_EQ(at(instance, 2).nat(), 2u) << "the record before it that touched the instance";
  EXPECT_EQ(at(instance, 3).text(), "completed");
  EXPECT_EQ(json_of(at(instance, 5).encoded()), R"([{"n":3}])");
  EXPECT_EQ(json_of(at(instance, 6).encoded()), R"({"ok":true})");
  const codec::View settled = at(at(instance, 10), 0);
  EXPECT_EQ(base::Bytes(at(settled, 0).bytes()->begin(), at(settled, 0).bytes()->end()),
            base::Bytes(intent.bytes.begin(), intent.bytes.end()));
  EXPECT_EQ(at(settled, 1).text(), "ok");
}

TEST_F(RecordTest, a_state_of_up_to_64_bytes_stands_in_it_and_a_larger_one_by_its_hash) {
  std::string definitions = testing::lab(testing::kToSingle);
  const std::string before = R"("lab/Single@1","state":"lab/State@1")";
  definitions.replace(definitions.find(before), before.size(),
                      R"("lab/Single@1","state":"lab/Text@1")");
  bench_.emplace(definitions, machines_);
  for (const std::size_t size : {64u, 65u}) {
    const std::string text(size - 2, 'x');  // behind a head of two bytes
    single_ = [&](const StepInput&, StepOutput& output) {
      output.begin_state();
      codec::write_text(output.bytes(), text);
    };
    const Outcome outcome = send("a", 1);
    const codec::View state = at(at(at(codec::View::of(outcome.record), 5), 0), 5);
    if (size <= kMaxStateBytesInRecord) {
      EXPECT_EQ(json_of(state.encoded()), "[\"" + text + "\"]");
    } else {
      EXPECT_TRUE(base::equal(*state.bytes(), hash_of("\"" + text + "\"").bytes));
    }
  }
}

TEST_F(RecordTest, names_intents_opened_with_identity_effect_and_params_and_events_emitted) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    open(output, "lab/work@1", R"({"a":5})");
    emit(output, "lab/Unheard@1", "{}");
  };
  const Outcome outcome = send("a", 3);
  const codec::View record = codec::View::of(outcome.record);
  const codec::View intent = at(at(at(at(record, 5), 0), 9), 0);
  EXPECT_EQ(at(intent, 1).text(), "lab/work@1");
  EXPECT_EQ(json_of(at(intent, 2).encoded()), R"({"a":5,"b":null})");
  EXPECT_EQ(json_of(at(record, 6).encoded()), R"([["lab/Unheard@1",{}]])");
}

TEST_F(RecordTest, every_kind_of_tick_comes_back_out_of_its_record) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 3, "id-1")).at(0);
  bench().progress(intent, 1, R"("x")");
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  bench().control(Control::kResume, "lab/Keyed@1", R"("a")");
  bench().receipt(intent, R"({"ok":true})");
  const base::Bytes document = value(testing::lab(testing::kToSingle));
  bench().tick(Propose{document, "d"});
  const std::uint64_t id = bench().world().next_record() - 1;
  const base::Bytes report = value("{}");
  bench().tick(ReportShadow{id, report});
  bench().tick(Decide{id, true, "by", "reason"});
  bench().tick(ApplyProposal{id});
  ASSERT_EQ(bench().journal().size(), 10u);
  for (const base::Bytes& record : bench().journal()) EXPECT_TRUE(tick_of(record));

  const auto event = tick_of(bench().journal()[1]);
  const auto& arrived = std::get<EventArrived>(event->input);
  EXPECT_EQ(arrived.schema, "lab/Go@1");
  EXPECT_EQ(json_of(arrived.value), R"({"n":3,"id":"a"})");
  EXPECT_EQ(arrived.id, "id-1");
  EXPECT_EQ(event->time_ns, 2'000'000'000u);
  EXPECT_EQ(event->entropy[0], 2);
  const auto decided = tick_of(bench().journal()[8]);
  const auto& decision = std::get<Decide>(decided->input);
  EXPECT_EQ(decision.proposal, id);
  EXPECT_TRUE(decision.approve);
  EXPECT_EQ(decision.by, "by");
  EXPECT_EQ(decision.reason, "reason");
  bench().expect_replays();
}

TEST_F(RecordTest, who_asked_stands_at_the_end_of_the_tick_and_only_where_it_is_known) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 3)).at(0);
  const base::Bytes key = value(R"("a")");
  bench().tick(ControlRequested{Control::kPause, "lab/Keyed@1", key, "r", "ci"});
  const auto paused = tick_of(bench().journal().back());
  EXPECT_EQ(std::get<ControlRequested>(paused->input).by, "ci");
  const codec::View tick = at(codec::View::of(bench().journal().back()), 4);
  EXPECT_EQ(tick.size(), 6u);
  EXPECT_EQ(at(tick, 5).text(), "ci");
  bench().tick(ControlRequested{Control::kResume, "lab/Keyed@1", key, "r"});
  EXPECT_EQ(at(codec::View::of(bench().journal().back()), 4).size(), 5u) << "as it was before";
  bench().receipt(intent, R"({"ok":true})");
  const base::Bytes document = value(testing::lab(testing::kToSingle));
  bench().tick(Propose{document, "d", "ann"});
  EXPECT_EQ(std::get<Propose>(tick_of(bench().journal().back())->input).by, "ann");
  const std::uint64_t id = bench().world().next_record() - 1;
  const base::Bytes report = value("{}");
  bench().tick(ReportShadow{id, report, "bob"});
  EXPECT_EQ(std::get<ReportShadow>(tick_of(bench().journal().back())->input).by, "bob");
  bench().tick(Decide{id, true, "eve", "reason"});
  bench().tick(ApplyProposal{id, "dan"});
  EXPECT_EQ(std::get<ApplyProposal>(tick_of(bench().journal().back())->input).by, "dan");
  const base::Bytes other = value(testing::lab(kToKeyed));
  bench().tick(ApplyManifest{other, "fay"});
  EXPECT_EQ(std::get<ApplyManifest>(tick_of(bench().journal().back())->input).by, "fay");
  bench().expect_replays();
  const std::size_t records = bench().journal().size();
  const std::string much(2000, 'x');
  for (const std::string_view by : {std::string_view(much), std::string_view("\xff")}) {
    const Outcome outcome = bench().tick(ApplyManifest{document, by});
    EXPECT_TRUE(std::holds_alternative<Refused>(outcome.answer));
  }
  EXPECT_EQ(bench().journal().size(), records) << "what is refused is not recorded";
}

TEST_F(RecordTest, bytes_that_are_no_record_are_refused) {
  send("a", 3);
  const base::Bytes good = bench().journal().back();
  EXPECT_FALSE(tick_of({}));
  EXPECT_FALSE(tick_of(value("[]")));
  EXPECT_FALSE(tick_of(value(R"([1,2,3,4,5,6,7,8])")));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(tick_of(base::ByteView(good).first(size))) << size;
}

TEST_F(RecordTest, the_first_record_and_instance_that_come_out_differently_are_named) {
  begin(kToKeyed);
  send("a", 1);
  send("b", 2);
  send("c", 3);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    state(output, number(input) == 2 ? 99 : number(input));  // changed code
  };
  World world(machines_, bench().blobs());
  ASSERT_TRUE(world.replay(bench().journal()[0]));
  ASSERT_TRUE(world.replay(bench().journal()[1]));
  const auto outcome = world.replay(bench().journal()[2]);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().to_string(),
            R"(record 3: the outcome of lab/Keyed@1 "b" is another one now)");
}

TEST_F(RecordTest, a_record_that_is_refused_or_out_of_place_is_named) {
  send("a", 1);
  World empty(machines_, bench().blobs());
  const auto early = empty.replay(bench().journal()[1]);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().to_string(),
            "record 1: it is refused now: the manifest has no schema 'lab/Go@1'");
  World world(machines_, bench().blobs());
  ASSERT_TRUE(world.replay(bench().journal()[0]));
  const auto twice = world.replay(bench().journal()[0]);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().to_string(), "record 2: its outcome is another one now");
}

TEST_F(RecordTest, snapshot_at_any_point_and_the_rest_is_full_replay_byte_for_byte) {
  begin(kToKeyed);
  keyed_ = testing::work;
  std::vector<base::Hash> intents;
  for (const char* id : {"a", "b", "c"}) intents.push_back(opened(send(id, 1)).at(0));
  bench().progress(intents[1], 1, "1");
  bench().receipt(intents[0], R"({"ok":true})");
  bench().receipt(intents[2], R"({"ok":5})");
  bench().control(Control::kCancel, "lab/Keyed@1", R"("b")");
  const base::Bytes end = *bench().world().snapshot();
  for (std::size_t point = 0; point <= bench().journal().size(); ++point) {
    World first(machines_, bench().blobs());
    for (std::size_t i = 0; i < point; ++i) ASSERT_TRUE(first.replay(bench().journal()[i]));
    auto second = World::restore(machines_, bench().blobs(), *first.snapshot());
    ASSERT_TRUE(second) << second.error().to_string();
    for (std::size_t i = point; i < bench().journal().size(); ++i)
      ASSERT_TRUE(second->replay(bench().journal()[i])) << point;
    EXPECT_EQ(*second->snapshot(), end) << point;
  }
}

}  // namespace
}  // namespace holdfast::kernel
