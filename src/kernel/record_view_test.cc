// SPDX-License-Identifier: Apache-2.0
#include "kernel/record_view.h"

#include <gmock/gmock.h>

#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::json_of;
using testing::kStopToKeyed;
using testing::kToKeyed;
using testing::LabTest;
using testing::opened;
using testing::value;

class RecordViewTest : public LabTest {
 protected:
  RecordView last() {
    auto view = read_record(bench().journal().back());
    EXPECT_TRUE(view) << view.error().to_string();
    return std::move(*view);
  }
};

TEST_F(RecordViewTest, shows_the_tick_and_what_came_of_it) {
  begin(kToKeyed);
  keyed_ = [](const StepInput&, StepOutput& output) {
    testing::state(output, 1);
    testing::open(output, "lab/work@1", R"({"a":5})");
    testing::emit(output, "lab/Unheard@1", "{}");
    output.begin_annotation();
    testing::write(output.bytes(), R"({"note":"hello"})");
  };
  const base::Hash intent = opened(send("a", 3)).at(0);
  const RecordView view = last();
  EXPECT_EQ(view.number, 2u);
  EXPECT_EQ(view.kind(), TickKind::kEvent);
  EXPECT_EQ(name_of(view.kind()), "event");
  EXPECT_EQ(view.tick.time_ns, 2'000'000'000u);
  ASSERT_EQ(view.instances.size(), 1u);
  const InstanceView& instance = view.instances[0];
  EXPECT_EQ(instance.workflow, "lab/Keyed@1");
  EXPECT_EQ(key_text(instance.key), R"("a")");
  EXPECT_EQ(instance.previous, 0u);
  EXPECT_EQ(instance.status, "waiting");
  EXPECT_FALSE(instance.paused);
  EXPECT_EQ(json_of(instance.state), R"({"n":1})");
  EXPECT_FALSE(instance.state_hash);
  EXPECT_TRUE(instance.outcome.empty());
  EXPECT_EQ(instance.steps, 1u);
  ASSERT_EQ(instance.opened.size(), 1u);
  EXPECT_EQ(instance.opened[0].intent, intent);
  EXPECT_EQ(instance.opened[0].effect, "lab/work@1");
  EXPECT_EQ(json_of(instance.opened[0].params), R"({"a":5,"b":null})");
  ASSERT_EQ(instance.annotations.size(), 1u);
  EXPECT_EQ(json_of(instance.annotations[0]), R"({"note":"hello"})");
  ASSERT_EQ(view.emitted.size(), 1u);
  EXPECT_EQ(view.emitted[0].schema, "lab/Unheard@1");
  EXPECT_TRUE(view.notes.empty());
  bench().event("lab/Unheard@1", "{}");
  const RecordView unheard = last();
  ASSERT_EQ(unheard.notes.size(), 1u);
  EXPECT_EQ(unheard.notes[0], (std::vector<std::string_view>{"event.unrouted", "lab/Unheard@1"}));
}

TEST_F(RecordViewTest, shows_a_large_state_by_its_hash) {
  std::string definitions = testing::lab(testing::kToSingle);
  const std::string before = R"("lab/Single@1","state":"lab/State@1")";
  definitions.replace(definitions.find(before), before.size(),
                      R"("lab/Single@1","state":"lab/Text@1")");
  bench_.emplace(definitions, machines_);
  single_ = [](const StepInput&, StepOutput& output) {
    output.begin_state();
    codec::write_text(output.bytes(), std::string(500, 'x'));
  };
  send("a", 1);
  const RecordView view = last();
  EXPECT_TRUE(view.instances[0].state.empty());
  EXPECT_TRUE(view.instances[0].state_hash);
}

TEST_F(RecordViewTest, shows_what_settled_and_the_end) {
  begin(kToKeyed);
  keyed_ = testing::work;
  const base::Hash intent = opened(send("a", 3)).at(0);
  bench().receipt(intent, R"({"ok":true})");
  const RecordView view = last();
  EXPECT_EQ(view.kind(), TickKind::kReceipt);
  ASSERT_EQ(view.instances.size(), 1u);
  EXPECT_EQ(view.instances[0].previous, 2u);
  EXPECT_EQ(view.instances[0].status, "completed");
  EXPECT_EQ(json_of(view.instances[0].outcome), R"({"ok":true})");
  ASSERT_EQ(view.instances[0].settled.size(), 1u);
  EXPECT_EQ(view.instances[0].settled[0].intent, intent);
  EXPECT_EQ(view.instances[0].settled[0].status, "ok");
}

TEST_F(RecordViewTest, an_instance_that_was_deleted_begins_anew) {
  begin(std::string(kToKeyed) + "," + kStopToKeyed);
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (input.mail.schema == "lab/Stop@1") return output.remove();
    testing::state(output, 1);
  };
  send("a", 1);
  bench().event("lab/Stop@1", R"({"id":"a"})");
  EXPECT_EQ(last().instances[0].status, "deleted");
  EXPECT_EQ(last().instances[0].previous, 2u);
  EXPECT_TRUE(last().instances[0].state.empty());
  send("a", 1);
  EXPECT_EQ(last().instances[0].previous, 0u);
}

TEST_F(RecordViewTest, bytes_that_are_no_record_are_refused) {
  send("a", 3);
  const base::Bytes good = bench().journal().back();
  ASSERT_TRUE(read_record(good));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(read_record(base::ByteView(good).first(size))) << size;
  // Whatever one byte is changed to: a record, or an error that says so.
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      base::Bytes bad = good;
      bad[at] ^= static_cast<std::uint8_t>(flip);
      const auto view = read_record(bad);
      if (view) continue;
      const bool is_version = at == 4 && flip == 0x01;
      EXPECT_EQ(view.error().code(),
                is_version ? base::ErrorCode::kConflict : base::ErrorCode::kCorrupt);
    }
  }
}

TEST(KeyText, what_is_no_value_is_shown_in_hex) {
  EXPECT_EQ(key_text({}), "");
  EXPECT_EQ(key_text(value("7")), "7");
  EXPECT_EQ(key_text(base::Bytes{0x62, 0x61}), "0x6261");
}

}  // namespace
}  // namespace holdfast::kernel
