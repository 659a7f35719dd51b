// SPDX-License-Identifier: Apache-2.0
// However much a tick does, its record is one that a journal takes: what a record carries is
// counted while the tick goes on, and the rest waits for another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::Bench;
using ::testing::HasSubstr;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::kToSingle;
using testing::Machines;
using testing::number;
using testing::opened;
using testing::state;

bool goes_on(const Outcome& outcome) {
  return !outcome.commands.empty() && std::holds_alternative<ContinueSoon>(outcome.commands.back());
}

class RecordSizeTest : public testing::LabTest {};

TEST_F(RecordSizeTest, an_outcome_stands_only_in_the_record_in_which_its_instance_ends) {
  const std::string large(100'000, 'x');
  const auto end = [&](const StepInput&, StepOutput& output) {
    output.begin_result();
    codec::write_text(output.bytes(), large);
  };
  keyed_ = numbered_ = single_ = end;
  const Outcome ends = send("a", 1);
  EXPECT_GT(ends.record.size(), 300'000u);
  const Outcome late = send("a", 1);
  EXPECT_EQ(std::get<Accepted>(late.answer).ignored, 3u);
  EXPECT_LT(late.record.size(), 1'000u);
  const auto view = read_record(late.record);
  ASSERT_TRUE(view);
  for (const InstanceView& instance : view->instances) {
    EXPECT_EQ(instance.status, "completed");
    EXPECT_TRUE(instance.outcome.empty());
  }
  bench().expect_replays();
}

TEST_F(RecordSizeTest, intents_that_settle_count) {
  constexpr std::uint64_t kInstances = 12;
  begin(std::string(kToNumbered) + "," + testing::kStopToKeyed);
  bool ends = false;
  numbered_ = [&](const StepInput& input, StepOutput& output) {
    if (ends) return testing::complete(output, "1");
    state(output, number(input));
    for (std::size_t i = 0; i < kMaxEffectsPerStep; ++i)
      testing::open(output, "lab/work@1", R"({"a":1})");
  };
  keyed_ = [&](const StepInput&, StepOutput& output) {
    state(output, 1);
    for (std::uint64_t n = 0; n < kInstances; ++n) testing::emit(output, "lab/Go@1", go("", n));
  };
  for (std::uint64_t n = 0; n < kInstances; ++n) {
    for (std::size_t i = 0; i < kMaxOpenIntents / kMaxEffectsPerStep; ++i) send("", n);
  }
  ends = true;
  Outcome outcome = bench().event("lab/Stop@1", R"({"id":"all"})");
  std::size_t stopped = outcome.commands.size();
  EXPECT_TRUE(goes_on(outcome)) << "they do not all end in one record";
  EXPECT_LT(outcome.record.size(), kMaxTickOutputBytes + kStepBytes);
  for (; goes_on(outcome); stopped += outcome.commands.size() - 1)
    outcome = bench().tick(Continue{});
  EXPECT_EQ(bench().world().open_intents(), 0u);
}

TEST_F(RecordSizeTest, names_count_as_output) {
  // The names alone pass a step's budget many times over.
  const std::string longest = "lab/" + std::string(defs::kMaxNameBytes - 6, 'n') + "@1";
  std::string definitions = testing::lab(kToKeyed);
  for (std::size_t at = 0; (at = definitions.find("lab/Unheard@1", at)) != std::string::npos;)
    definitions.replace(at, 13, longest);
  bench_.emplace(definitions, machines_);
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = number(input);
    state(output, n);
    for (std::size_t i = 1; i < kMaxEventsPerStep; ++i) testing::emit(output, longest, "{}");
    if (n > 0) testing::emit(output, "lab/Go@1", go("a", n - 1));
  };
  Outcome outcome = send("a", 300);
  EXPECT_TRUE(goes_on(outcome));
  EXPECT_LT(outcome.record.size(), kMaxTickOutputBytes + kMaxStepOutputBytes);
  EXPECT_GT(outcome.record.size(), kMaxTickOutputBytes / 2);
}

TEST_F(RecordSizeTest, an_error_counts) {
  begin(kToNumbered);
  const std::string much(kMaxReasonBytes, 'e');
  numbered_ = [&](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = number(input);
    for (std::uint64_t i = 1; n == 0 && i <= kMaxEventsPerStep; ++i)
      testing::emit(output, "lab/Go@1", go("", i * 1000));
    if (n == 0) return state(output, 0);
    for (std::uint64_t i = 1; n % 1000 == 0 && i <= 3; ++i)
      testing::emit(output, "lab/Go@1", go("", n + i));
    output.fail(much, much);
  };
  Outcome outcome = send("", 0);
  EXPECT_TRUE(goes_on(outcome));
  std::uint64_t steps = 0;
  const auto view = read_record(outcome.record);
  ASSERT_TRUE(view);
  for (const InstanceView& instance : view->instances) steps += instance.steps;
  EXPECT_LT(steps, 1000u);
}

// The same event for many workflows, all keyed by the same field, with names as long as can be.
class WorstTickTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kWorkflows = 512;
  static constexpr std::size_t kEvents = 16;  // of the last step, each to all of them
  static_assert(kWorkflows * kEvents <= kMaxDeliveriesPerStep);

  static std::string long_name(std::size_t i) {
    const std::string number = std::to_string(i);
    return "w/W" + number + std::string(defs::kMaxNameBytes - 5 - number.size(), 'n') + "@1";
  }

  static std::string definitions() {
    std::string all = R"json([
{"$kind":"defschema","name":"w/In@1","type":{"record":{"k":{"nat":{}},"v":{"any":{}}}}},
{"$kind":"defschema","name":"w/Out@1","type":{"record":{"k":{"text":{}}}}},
{"$kind":"defschema","name":"w/Nat@1","type":{"nat":{}}},
{"$kind":"defschema","name":"w/Text@1","type":{"text":{}}},
{"$kind":"defeffect","name":"w/do@1","params":"w/Nat@1","receipt":"w/Nat@1","executor":{"kind":"echo"}},
{"$kind":"defmodule","name":"w/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"w/Driver@1","state":"w/Nat@1","event":"w/In@1","key_schema":"w/Nat@1",
 "annotations":"w/Text@1","effects_emitted":["w/do@1"],"impl":{"module":"w/code@1","entrypoint":"driver"}},)json";
    std::string listed = R"({"name":"w/Driver@1"})";
    std::string routes = R"({"event":"w/In@1","workflow":"w/Driver@1","key_field":"k"})";
    for (std::size_t i = 0; i < kWorkflows; ++i) {
      const std::string name = long_name(i);
      all += R"({"$kind":"defworkflow","name":")" + name +
             R"(","state":"w/Nat@1","event":"w/Out@1","key_schema":"w/Text@1",)"
             R"("effects_emitted":[],"impl":{"module":"w/code@1","entrypoint":"other"}},)";
      listed += R"(,{"name":")" + name + "\"}";
      routes += R"(,{"event":"w/Out@1","workflow":")" + name + R"(","key_field":"k"})";
    }
    return all +
           R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"w/In@1"},)"
           R"({"name":"w/Out@1"},{"name":"w/Nat@1"},{"name":"w/Text@1"}],)"
           R"("modules":[{"name":"w/code@1"}],"effects":[{"name":"w/do@1"}],"workflows":[)" +
           listed + R"(],"routing":{"subscriptions":[)" + routes + "]}}]";
  }

  Outcome send(std::uint64_t key, const std::string& json) {
    return bench_.event("w/In@1", R"({"k":)" + std::to_string(key) + R"(,"v":)" + json + "}");
  }

  static void emit_to_all(StepOutput& output, std::size_t events, std::size_t first = 100) {
    for (std::size_t i = 0; i < events; ++i) {
      output.begin_event("w/Out@1");
      codec::write_map_head(output.bytes(), 1);
      codec::write_text(output.bytes(), "k");
      codec::write_text(output.bytes(), std::to_string(first + i) + std::string(1000, 'k'));
    }
  }

  testing::Step driver_;
  Machines machines_{{"driver", [this](const auto& in, auto& out) { driver_(in, out); }},
                     {"other", [](const StepInput&, StepOutput& output) {
                        output.begin_state();
                        codec::write_nat(output.bytes(), 1);
                      }}};
  Bench bench_{definitions(), machines_};
};

TEST_F(WorstTickTest, a_step_whose_events_go_to_too_many_instances_fails) {
  driver_ = [](const StepInput&, StepOutput& output) {
    output.begin_state();
    codec::write_nat(output.bytes(), 1);
    emit_to_all(output, kMaxDeliveriesPerStep / kWorkflows + 1);
  };
  send(1, "1");
  const Cell* cell = bench_.find("w/Driver@1", "1");
  EXPECT_THAT(testing::json_of(cell->outcome), HasSubstr("step.too_many_deliveries"));
}

TEST_F(WorstTickTest, instances_that_are_touched_count) {
  driver_ = [](const StepInput& input, StepOutput& output) {
    output.begin_state();
    codec::write_nat(output.bytes(), 1);
    const std::uint64_t key = *codec::View::of(input.mail.value).find("k")->nat();
    if (key != 1) return emit_to_all(output, kEvents, key * 100);
    for (const char* other : {"2", "3"}) {
      output.begin_event("w/In@1");
      testing::write(output.bytes(), R"({"k":)" + std::string(other) + R"(,"v":1})");
    }
  };
  const Outcome outcome = send(1, "1");
  EXPECT_TRUE(goes_on(outcome));
  const auto view = read_record(outcome.record);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->instances.size(), 3 + kEvents * kWorkflows) << "the third waits for another tick";
}

// Everything at once: an event as large as can be; steps that spend the tick's budget; and a last
// step that spends its own, names everybody it may and ends with everything open.
TEST_F(WorstTickTest, its_record_is_within_the_bound) {
  const std::string most(1'000'000, 'a');
  std::size_t steps = 0;  // of the worst tick
  bool is_worst = false;
  driver_ = [&](const StepInput&, StepOutput& output) {
    const auto one = [&] { codec::write_nat(output.bytes(), 1); };
    if (!is_worst) {
      output.begin_state();
      one();
      for (std::size_t i = 0; i < kMaxEffectsPerStep; ++i) {
        output.begin_effect("w/do@1");
        one();
      }
      return;
    }
    output.begin_annotation();
    codec::write_text(output.bytes(), most);
    if (++steps < 9) {
      output.begin_state();
      one();
      output.begin_event("w/In@1");
      return testing::write(output.bytes(), R"({"k":1,"v":1})");
    }
    emit_to_all(output, kEvents);
    output.begin_result();
    one();
  };
  for (std::size_t i = 0; i < kMaxOpenIntents / kMaxEffectsPerStep; ++i) send(1, "1");
  EXPECT_EQ(bench_.world().open_intents(), kMaxOpenIntents);
  is_worst = true;
  const Outcome worst = send(1, "\"" + std::string(codec::kMaxValueBytes - 100, 'v') + "\"");
  EXPECT_EQ(steps, 9u);
  EXPECT_EQ(worst.commands.size(), kMaxOpenIntents + 1) << "all are stopped, and it goes on";
  EXPECT_GT(worst.record.size(), kMaxRecordBytes / 10 * 9) << "the bound is not far away";
  EXPECT_LE(worst.record.size(), kMaxRecordBytes);
}

}  // namespace
}  // namespace holdfast::kernel
