// SPDX-License-Identifier: Apache-2.0
// Each call that changes the disk fails once, in each way. The run goes on as a real one would: a
// full disk is tried again, a journal that has stopped is opened again. In the end the power is
// cut, and everything that was acknowledged must be there.
#include <iostream>

#include "store/testing.h"
#include "store/testing_faults.h"

namespace holdfast::store::testing {
namespace {

constexpr std::size_t kRecordBytes = 1800;
constexpr RecordNumber kRecords = 24;
constexpr int kMaxOpenings = 6;

class SweptRun {
 public:
  env::SimDisk& disk() { return world_.disk(); }

  // Appends kRecords records, whatever happens, and gives how many openings it took.
  int run() {
    int openings = 0;
    while (openings < kMaxOpenings && acknowledged_ < kRecords) {
      ++openings;
      auto open = world_.open();
      if (!open) {
        EXPECT_NE(open.error().code(), base::ErrorCode::kCorrupt) << open.error().to_string();
        continue;
      }
      EXPECT_GT((*open)->journal().epoch(), epoch_);
      epoch_ = (*open)->journal().epoch();
      EXPECT_GE((*open)->journal().durable(), acknowledged_);
      acknowledged_ = (*open)->journal().durable();
      work((*open)->journal());
    }
    EXPECT_EQ(acknowledged_, kRecords);
    return openings;
  }

  void check_after_power_cut() {
    SimWorld after(after_worst_cut(disk()));
    auto open = after.open();
    ASSERT_TRUE(open) << open.error().to_string();
    EXPECT_GT((*open)->journal().epoch(), epoch_);
    const RecordNumber first = (*open)->journal().first();
    const auto records = read_all((*open)->journal(), first);
    ASSERT_TRUE(records) << records.error().to_string();
    ASSERT_EQ(first + records->size() - 1, kRecords);
    for (std::size_t i = 0; i < records->size(); ++i)
      EXPECT_EQ((*records)[i], record_text(first + i, kRecordBytes));
  }

 private:
  void work(Journal& journal) {
    int full = 0;
    while (acknowledged_ < kRecords) {
      if (acknowledged_ % 5 == 4 && !journal.prepare()) ++full;
      if (acknowledged_ % 9 == 8 && !journal.mark()) return;
      if (acknowledged_ % 11 == 10 && !journal.trim(acknowledged_ / 2)) return;
      const auto appended = append_batch(journal, 1, kRecordBytes);
      if (!appended && appended.error().code() == base::ErrorCode::kUnavailable) {
        // Nothing was written: trying again is allowed, on the same journal.
        EXPECT_EQ(journal.last(), acknowledged_);
        if (++full > 2) return;
        continue;
      }
      if (!appended || !journal.sync()) {
        // Stopped for good.
        EXPECT_FALSE(append_batch(journal, 1, kRecordBytes));
        EXPECT_FALSE(journal.sync());
        EXPECT_EQ(journal.durable(), acknowledged_);
        return;
      }
      acknowledged_ = journal.durable();
    }
    static_cast<void>(journal.close().has_value());
  }

  SimWorld world_;
  RecordNumber acknowledged_ = 0;
  std::uint64_t epoch_ = 0;
};

std::uint64_t calls_without_faults() {
  SweptRun run;
  EXPECT_EQ(run.run(), 1);
  return run.disk().changing_calls();
}

class FaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(FaultSweep, loses_nothing_that_was_acknowledged) {
  const std::uint64_t calls = calls_without_faults();
  ASSERT_GT(calls, 60u);
  int reopened = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    SweptRun run;
    run.disk().fail_call(call, GetParam());
    if (run.run() > 1) ++reopened;
    run.check_after_power_cut();
    if (HasFailure()) return;
  }
  std::cout << "fault sweep of the journal: " << calls << " calls, " << reopened
            << " of them made it stop\n";
  // A short write is nobody's business; all else stops a journal somewhere.
  EXPECT_EQ(reopened > 0, GetParam() != env::DiskFault::kShort);
}

INSTANTIATE_TEST_SUITE_P(Each, FaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

}  // namespace
}  // namespace holdfast::store::testing
