// SPDX-License-Identifier: Apache-2.0
#include "node/verify.h"

#include <gmock/gmock.h>

#include "kernel/testing_lab.h"
#include "node/testing.h"

namespace holdfast::node {
namespace {

using kernel::StepInput;
using kernel::StepOutput;
using testing::append_records;
using ::testing::IsEmpty;

class VerifyTest : public kernel::testing::LabTest {
 protected:
  void SetUp() override {
    begin(kernel::testing::kToKeyed);
    for (std::uint64_t i = 0; i < 12; ++i) send(i % 2 == 0 ? "a" : "b", i);
    records_ = bench().journal();
  }

  // Verifies a journal of these records.
  VerifyReport verify(const kernel::MachineSource& machines) {
    sim_ = std::make_unique<store::testing::SimWorld>();
    auto world = *sim_->open();
    EXPECT_TRUE(append_records(world->journal(), records_));
    EXPECT_TRUE(world->journal().close());
    return verify_journal(*store::JournalFiles::open(world->folder), machines);
  }
  VerifyReport verify() { return verify(machines_); }

  // Changes a byte of a record; the journal's checksums are right nevertheless.
  void change(std::size_t record, std::size_t at, std::uint8_t from, std::uint8_t to) {
    ASSERT_EQ(records_[record - 1][at], from);
    records_[record - 1][at] = to;
  }

  std::vector<base::Bytes> records_;
  std::unique_ptr<store::testing::SimWorld> sim_;
};

std::vector<std::string> texts(const base::Errors& errors) {
  std::vector<std::string> texts;
  for (const base::Error& error : errors) texts.push_back(error.to_string());
  return texts;
}

TEST_F(VerifyTest, a_good_journal_is_good) {
  const VerifyReport report = verify();
  EXPECT_THAT(texts(report.errors), IsEmpty());
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(report.records, 13u);
  EXPECT_EQ(report.instances, 2u);
  EXPECT_EQ(report.replayed, 13u);
  EXPECT_EQ(report.replay_stopped, "");
}

TEST_F(VerifyTest, the_first_record_whose_replay_differs_is_named) {
  keyed_ = [](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = kernel::testing::number(input);
    kernel::testing::state(output, n >= 5 ? n + 1 : n);  // changed code
  };
  const VerifyReport report = verify();
  ASSERT_EQ(report.errors.size(), 1u) << "one, and not all that follow from it";
  EXPECT_EQ(report.errors[0].to_string(),
            R"(record 7: the outcome of lab/Keyed@1 "b" is another one now)");
  EXPECT_EQ(report.replayed, 6u);
  EXPECT_EQ(report.records, 13u) << "the rest is checked all the same";
}

TEST_F(VerifyTest, code_that_is_not_there_is_named_and_no_error) {
  const kernel::testing::Machines none{{"single", kernel::testing::keep}};
  const VerifyReport report = verify(none);
  EXPECT_THAT(texts(report.errors), IsEmpty());
  EXPECT_EQ(report.replayed, 1u) << "the definitions";
  EXPECT_EQ(report.replay_stopped,
            "this program has no code for lab/code@1 (keyed), lab/code@1 (numbered)");
  EXPECT_EQ(report.instances, 2u);
}

TEST_F(VerifyTest, a_record_in_the_wrong_place_is_named) {
  std::swap(records_[4], records_[6]);
  const VerifyReport report = verify();
  ASSERT_FALSE(report.errors.empty());
  EXPECT_EQ(report.errors[0].to_string(), "record 5: says that it is record 7");
}

TEST_F(VerifyTest, bytes_that_are_no_record_are_named) {
  records_[4] = {1, 2, 3};
  const VerifyReport report = verify();
  ASSERT_FALSE(report.errors.empty());
  EXPECT_EQ(report.errors[0].to_string(), "record 5: a record is not well formed");
}

TEST_F(VerifyTest, a_wrong_back_reference_is_named) {
  // "a" was touched by records 2, 4 and 6; in record 6, "4" becomes "2".
  const base::Bytes& record = records_[5];
  const std::string key = "lab/Keyed@1\x42\x61\x61";
  const auto at = base::as_text(record).find(key) + key.size();
  change(6, at, 4, 2);
  const kernel::testing::Machines none{{"single", kernel::testing::keep}};
  const VerifyReport report = verify(none);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors[0].to_string(),
            R"(record 6: names record 2 as the one before it for lab/Keyed@1 "a", but that is 4)");
}

TEST_F(VerifyTest, a_trimmed_journal_is_checked_as_far_as_it_goes) {
  for (std::uint64_t i = 0; i < 60; ++i) send(i % 2 == 0 ? "a" : "b", i);
  store::testing::SimWorld sim;
  auto world = *sim.open();
  ASSERT_TRUE(append_records(world->journal(), bench().journal()));
  ASSERT_TRUE(world->journal().trim(40));
  const store::RecordNumber first = world->journal().first();
  ASSERT_GT(first, 1u);
  const VerifyReport report = verify_journal(*store::JournalFiles::open(world->folder), machines_);
  EXPECT_THAT(texts(report.errors), IsEmpty());
  EXPECT_EQ(report.first, first);
  EXPECT_EQ(report.records, 73 - first + 1);
  EXPECT_EQ(report.instances, 2u);
  EXPECT_EQ(report.replayed, 0u);
  EXPECT_EQ(report.replay_stopped, "the journal begins with record " + std::to_string(first) +
                                       ", and there is no snapshot to begin with");
}

}  // namespace
}  // namespace holdfast::node
