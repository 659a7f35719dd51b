// SPDX-License-Identifier: Apache-2.0
#include "node/timeline.h"

#include <gmock/gmock.h>

#include "kernel/testing_lab.h"
#include "node/back_references.h"
#include "node/testing.h"
#include "node/testing_journal.h"

namespace holdfast::node {
namespace {

using kernel::StepInput;
using kernel::StepOutput;
using kernel::testing::value;
using testing::append_records;
using ::testing::ElementsAre;

class TimelineTest : public kernel::testing::LabTest {
 protected:
  void SetUp() override {
    begin(std::string(kernel::testing::kToKeyed) + "," + kernel::testing::kStopToKeyed);
    keyed_ = [](const StepInput& input, StepOutput& output) {
      if (input.mail.schema == "lab/Stop@1") return output.remove();
      kernel::testing::state(output, kernel::testing::number(input));
    };
    open_ = *sim_.open();
  }
  store::Journal& journal() {
    EXPECT_TRUE(append_records(open_->journal(), bench().journal()));
    return open_->journal();
  }
  base::Result<Timeline> walk(store::RecordNumber from, const TimelineLimits& limits = {}) {
    return timeline(journal(), "lab/Keyed@1", value(R"("a")"), from, limits);
  }
  static std::vector<store::RecordNumber> numbers(const Timeline& timeline) {
    std::vector<store::RecordNumber> numbers;
    for (const TimelineEntry& entry : timeline.entries) {
      numbers.push_back(entry.view.number);
      EXPECT_EQ(kernel::key_text(entry.instance.key), R"("a")");
    }
    return numbers;
  }

  store::testing::SimWorld sim_;
  std::unique_ptr<store::testing::OpenWorld> open_;
};

TEST_F(TimelineTest, leads_from_the_last_record_of_the_cell_to_its_beginning) {
  for (const char* id : {"a", "b", "a", "b", "b", "a"}) send(id, 1);
  const auto whole = walk(keyed("a")->last_record);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_THAT(numbers(*whole), ElementsAre(7, 4, 2));
  EXPECT_EQ(whole->end, TimelineEnd::kBegun);
}

TEST_F(TimelineTest, goes_on_behind_a_deletion_that_a_new_life_follows_in_the_same_record) {
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (input.mail.schema == "lab/Stop@1") return output.remove();
    kernel::testing::state(output, kernel::testing::number(input));
    if (kernel::testing::number(input) != 100) return;
    kernel::testing::emit(output, "lab/Stop@1", R"({"id":"a"})");
    kernel::testing::emit(output, "lab/Go@1", go("a", 7));
  };
  for (const std::uint64_t n : {1u, 100u, 2u}) send("a", n);
  const auto whole = walk(keyed("a")->last_record);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_THAT(numbers(*whole), ElementsAre(4, 3, 3, 2));
  EXPECT_EQ(whole->entries[1].instance.status, "running");
  EXPECT_EQ(whole->entries[2].instance.status, "deleted");
  EXPECT_EQ(whole->end, TimelineEnd::kBegun);
  BackReferences references(1);
  for (const base::Bytes& record : bench().journal())
    EXPECT_FALSE(references.follow(*kernel::read_record(record)));
}

TEST_F(TimelineTest, a_record_that_lets_an_ended_instance_begin_again_is_one_entry) {
  send("a", 1);
  const base::Bytes key = value(R"("a")");
  const auto image = bench().world().image("lab/Keyed@1", key);
  ASSERT_TRUE(image && image->has_value());
  bench().control(kernel::Control::kCancel, "lab/Keyed@1", R"("a")");
  codec::Buffer bytes;
  kernel::write_image(bytes, **image);
  bench().tick(kernel::ReopenInstance{"lab/Keyed@1", key, bytes.view(), 2, "because", "eva"});
  bench().control(kernel::Control::kCancel, "lab/Keyed@1", R"("a")");
  const base::Bytes event = value(go("a", 2));
  kernel::EventArrived again{"lab/Go@1", event, {}, "lab/Keyed@1", key, true};
  again.reuse = kernel::KeyReuse::kStartAgain;
  bench().tick(again);
  const auto whole = walk(keyed("a")->last_record);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_THAT(numbers(*whole), ElementsAre(6, 5, 4, 3, 2));
  EXPECT_EQ(whole->entries[0].instance.status, "running");
  EXPECT_EQ(whole->entries[2].instance.status, "running");
  EXPECT_EQ(whole->end, TimelineEnd::kBegun);
}

TEST_F(TimelineTest, comes_in_parts_that_go_on_where_the_last_one_ended) {
  for (int i = 0; i < 10; ++i) send("a", 1);
  std::vector<store::RecordNumber> all;
  store::RecordNumber from = keyed("a")->last_record;
  TimelineEnd end = TimelineEnd::kMore;
  while (end == TimelineEnd::kMore) {
    const auto part = *walk(from, {.records = 3});
    const auto more = numbers(part);
    EXPECT_LE(more.size(), 3u);
    all.insert(all.end(), more.begin(), more.end());
    from = part.next;
    end = part.end;
  }
  EXPECT_EQ(end, TimelineEnd::kBegun);
  EXPECT_THAT(all, ElementsAre(11, 10, 9, 8, 7, 6, 5, 4, 3, 2));
  EXPECT_EQ(walk(11, {.bytes = 1})->entries.size(), 1u) << "large records make short parts";
}

TEST_F(TimelineTest, a_new_life_does_not_lead_into_the_one_before) {
  send("a", 1);
  bench().event("lab/Stop@1", R"({"id":"a"})");
  send("a", 2);
  send("a", 3);
  EXPECT_THAT(numbers(*walk(5)), ElementsAre(5, 4));
  EXPECT_THAT(numbers(*walk(3)), ElementsAre(3, 2)) << "the old one can still be had";
}

TEST_F(TimelineTest, a_trimmed_record_ends_it_and_is_named) {
  send("a", 1);
  for (int i = 0; i < 40; ++i) send("b", 1);
  send("a", 2);
  send("a", 3);
  ASSERT_TRUE(journal().trim(30));
  ASSERT_GT(journal().first(), 2u);
  const auto rest = walk(keyed("a")->last_record);
  ASSERT_TRUE(rest) << rest.error().to_string();
  EXPECT_THAT(numbers(*rest), ElementsAre(44, 43));
  EXPECT_EQ(rest->end, TimelineEnd::kTrimmed);
  EXPECT_EQ(rest->next, 2u);
}

// Is trimmed as soon as somebody has begun to read.
struct TrimmedWhileRead : testing::JournalAround {
  using JournalAround::JournalAround;
  base::Result<std::unique_ptr<store::JournalReader>> read(store::RecordNumber from) override {
    auto reader = JournalAround::read(from);
    EXPECT_TRUE(trim(30));
    return reader;
  }
};

TEST_F(TimelineTest, leads_to_the_beginning_though_the_journal_is_trimmed_meanwhile) {
  send("a", 1);
  for (int i = 0; i < 40; ++i) send("b", 1);
  send("a", 2);
  TrimmedWhileRead trimmed(journal());
  const auto whole = timeline(trimmed, "lab/Keyed@1", value(R"("a")"), keyed("a")->last_record);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_GT(journal().first(), 2u);
  EXPECT_THAT(numbers(*whole), ElementsAre(43, 2));
  EXPECT_EQ(whole->end, TimelineEnd::kBegun);
  EXPECT_EQ(timeline(trimmed, "lab/Keyed@1", value(R"("a")"), 43)->end, TimelineEnd::kTrimmed)
      << "whoever comes now";
}

TEST_F(TimelineTest, a_record_of_another_instance_and_one_that_is_not_there_are_refused) {
  send("a", 1);
  send("b", 1);
  EXPECT_EQ(walk(3).error().to_string(), R"(record 3: does not belong to lab/Keyed@1 "a")");
  EXPECT_EQ(walk(3).error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(walk(9).error().to_string(), "record 9: is not there: the last one is 3");
}

}  // namespace
}  // namespace holdfast::node
