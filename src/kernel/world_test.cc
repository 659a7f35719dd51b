// SPDX-License-Identifier: Apache-2.0
#include "kernel/world.h"

#include <gtest/gtest.h>

#include "kernel/testing.h"

namespace holdfast::kernel {
namespace {

using testing::Bench;
using testing::json_of;
using testing::Machines;
using testing::opened;
using testing::value;
using testing::write;

constexpr char kShop[] = R"json([
{"$kind":"defschema","name":"shop/Placed@1","type":{"record":{"id":{"text":{}},"cents":{"nat":{}}}}},
{"$kind":"defschema","name":"shop/Id@1","type":{"text":{}}},
{"$kind":"defschema","name":"shop/Event@1","type":{"variant":{"Placed":{"ref":"shop/Placed@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defschema","name":"shop/State@1","type":{"record":{"cents":{"nat":{}}}}},
{"$kind":"defschema","name":"shop/Charge@1","type":{"record":{"cents":{"nat":{}}}}},
{"$kind":"defschema","name":"shop/Charged@1","type":{"record":{"reference":{"text":{}}}}},
{"$kind":"defeffect","name":"shop/charge@1","params":"shop/Charge@1","receipt":"shop/Charged@1",
 "executor":{"kind":"worker","queue":"payments"}},
{"$kind":"defmodule","name":"shop/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"shop/Order@1","state":"shop/State@1","event":"shop/Event@1","key_schema":"shop/Id@1",
 "effects_emitted":["shop/charge@1"],"impl":{"module":"shop/code@1","entrypoint":"order"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"shop/Placed@1"},{"name":"shop/Id@1"},{"name":"shop/Event@1"},
  {"name":"shop/State@1"},{"name":"shop/Charge@1"},{"name":"shop/Charged@1"}],
 "modules":[{"name":"shop/code@1"}],"workflows":[{"name":"shop/Order@1"}],"effects":[{"name":"shop/charge@1"}],
 "routing":{"subscriptions":[{"event":"shop/Placed@1","workflow":"shop/Order@1","key_field":"id"}]}}
])json";

// Charges what the order costs; is done when it is paid.
void order(const StepInput& input, StepOutput& output) {
  if (input.mail.kind == MailKind::kEvent) {
    const codec::View event = codec::View::of(input.mail.value);
    const std::string cents = std::to_string(*event.find("cents")->nat());
    output.begin_state();
    write(output.bytes(), R"({"cents":)" + cents + "}");
    output.begin_effect("shop/charge@1");
    write(output.bytes(), R"({"cents":)" + cents + "}");
  } else {
    output.begin_result();
    output.bytes().append(input.mail.value);
  }
}

class WorldTest : public ::testing::Test {
 protected:
  Machines machines_{{"order", order}};
  Bench bench_{kShop, machines_};
};

TEST_F(WorldTest, an_event_steps_its_instance_and_a_receipt_resumes_it) {
  const Outcome placed = bench_.event("shop/Placed@1", R"({"id":"o-1","cents":5})");
  ASSERT_EQ(std::get<Accepted>(placed.answer).deliveries, 1u);
  ASSERT_EQ(opened(placed).size(), 1u);
  const Cell* cell = *bench_.world().find("shop/Order@1", value(R"("o-1")"));
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->status(), Status::kWaiting);

  bench_.receipt(opened(placed)[0], R"({"reference":"r-9"})");
  EXPECT_EQ(cell->status(), Status::kCompleted);
  EXPECT_EQ(json_of(cell->outcome), R"({"reference":"r-9"})");
  EXPECT_EQ(bench_.world().open_intents(), 0u);
}

TEST_F(WorldTest,
       equal_effects_of_two_cells_have_two_identities_and_a_receipt_wakes_only_its_origin) {
  const Outcome a = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})");
  const Outcome b = bench_.event("shop/Placed@1", R"({"id":"b","cents":5})");
  ASSERT_NE(opened(a)[0], opened(b)[0]);
  bench_.receipt(opened(b)[0], R"({"reference":"r"})");
  EXPECT_EQ((*bench_.world().find("shop/Order@1", value(R"("a")")))->status(), Status::kWaiting);
  EXPECT_EQ((*bench_.world().find("shop/Order@1", value(R"("b")")))->status(), Status::kCompleted);
}

TEST_F(WorldTest, replay_gives_the_same_records) {
  const Outcome a = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})", "id-1");
  bench_.event("shop/Placed@1", R"({"id":"b","cents":7})");
  bench_.receipt(opened(a)[0], R"({"nonsense":1})");
  bench_.event("shop/Placed@1", R"({"id":"a","cents":5})");
  EXPECT_EQ(bench_.journal().size(), 5u);
  bench_.expect_replays();
}

TEST_F(WorldTest, an_instance_says_what_it_waits_for) {
  const Outcome placed = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})");
  auto why = *bench_.world().why("shop/Order@1", value(R"("a")"));
  ASSERT_EQ(why.size(), 1u);
  const auto& receipt = std::get<WaitsForReceipt>(why[0]);
  EXPECT_EQ(receipt.effect, "shop/charge@1");
  EXPECT_EQ(receipt.executor, "worker");
  EXPECT_EQ(receipt.opened_at, 2u);
  EXPECT_EQ(receipt.since_ns, 2'000'000'000u);
  bench_.receipt(opened(placed)[0], R"({"reference":"r"})");
  EXPECT_TRUE(bench_.world().why("shop/Order@1", value(R"("a")"))->empty());
}

TEST_F(WorldTest, a_snapshot_at_any_point_is_invisible) {
  const auto run = [&](Bench& bench, std::size_t put_away_after) {
    std::size_t ticks = 0;
    const auto count = [&](Outcome outcome) {
      if (++ticks == put_away_after) bench.put_away();
      return outcome;
    };
    const Outcome a = count(bench.event("shop/Placed@1", R"({"id":"a","cents":5})", "id-1"));
    const Outcome b = count(bench.event("shop/Placed@1", R"({"id":"b","cents":7})"));
    count(bench.receipt(opened(a)[0], R"({"reference":"r"})"));
    count(bench.event("shop/Placed@1", R"({"id":"a","cents":5})", "id-1"));
    count(bench.receipt(opened(a)[0], R"({"reference":"r"})"));
    count(bench.receipt(opened(b)[0], R"({"nonsense":1})"));
  };
  run(bench_, 0);
  const base::Bytes end = *bench_.world().snapshot();
  for (std::size_t point = 1; point <= 6; ++point) {
    Bench other(kShop, machines_);
    run(other, point);
    EXPECT_EQ(other.journal(), bench_.journal()) << point;
    EXPECT_EQ(*other.world().snapshot(), end) << point;
  }
}

TEST_F(WorldTest, a_repeated_event_id_or_receipt_gets_the_first_answer_and_leaves_no_record) {
  const Outcome first = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})", "id-1");
  const Outcome again = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})", "id-1");
  EXPECT_EQ(std::get<Repeated>(again.answer).record, std::get<Accepted>(first.answer).record);
  EXPECT_TRUE(again.record.empty());
  bench_.receipt(opened(first)[0], R"({"reference":"r"})");
  EXPECT_EQ(
      std::get<Repeated>(bench_.receipt(opened(first)[0], R"({"reference":"x"})").answer).record,
      3u);
  EXPECT_EQ(bench_.journal().size(), 3u);
}

TEST_F(WorldTest, a_receipt_that_does_not_fit_fails_the_instance) {
  const Outcome placed = bench_.event("shop/Placed@1", R"({"id":"a","cents":5})");
  bench_.receipt(opened(placed)[0], R"({"reference":5})");
  const Cell* cell = *bench_.world().find("shop/Order@1", value(R"("a")"));
  EXPECT_EQ(cell->status(), Status::kFailed);
  EXPECT_EQ(
      json_of(cell->outcome),
      R"({"code":"receipt.invalid_payload","details":null,"message":"the receipt of 'shop/charge@1' does not fit: $.reference: expected text, got nat","retryable":false})");
}

}  // namespace
}  // namespace holdfast::kernel
