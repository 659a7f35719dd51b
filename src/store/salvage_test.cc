// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include <gmock/gmock.h>

#include "env/crash.h"
#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SalvageTest : public ::testing::Test {
 protected:
  void write(std::size_t records) {
    auto open = *world_.open();
    for (std::size_t i = 0; i < records; ++i) ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
    ASSERT_TRUE(open->journal().close());
  }
  base::Result<SalvageReport> run() {
    const auto random = env::seeded_random(8);
    const auto process = env::posix_process();
    return salvage(world_.disk(), *random, *process, "./world", "./new");
  }
  void expect_records(RecordNumber first, RecordNumber last) {
    const auto random = env::seeded_random(8);
    auto open = open_world(world_.disk(), *random, "./new", small_segments());
    ASSERT_TRUE(open) << open.error().to_string();
    EXPECT_EQ((*open)->journal().first(), first);
    EXPECT_EQ((*open)->journal().last(), last);
    const auto records = read_all((*open)->journal(), first);
    ASSERT_TRUE(records) << records.error().to_string();
    for (std::size_t i = 0; i < records->size(); ++i)
      EXPECT_EQ((*records)[i], record_text(first + i, 3000));
    // It is a journal like others.
    ASSERT_TRUE(commit_batch((*open)->journal(), 1));
    EXPECT_EQ((*open)->journal().durable(), last + 1);
  }

  SimWorld world_;
};

TEST_F(SalvageTest, records_keep_their_numbers_where_earlier_ones_were_trimmed) {
  write(40);
  {
    auto open = *world_.open();
    ASSERT_TRUE(open->journal().trim(20));
    ASSERT_GT(open->journal().first(), 10u);
    ASSERT_TRUE(open->journal().close());
  }
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->lost.records, IsEmpty());
  EXPECT_EQ(report->last, 40u);
  expect_records(report->first, 40);
}

TEST_F(SalvageTest, what_a_recovery_wrote_again_is_taken_once) {
  write(2);
  {
    auto open = *world_.open();
    ASSERT_TRUE(commit_batch(open->journal(), 1, 3000));
    ASSERT_TRUE(append_batch(open->journal(), 1, 3000));
  }
  { auto open = *world_.open(); }  // finds a record that may not be durable
  const auto report = run();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->lost.bytes, IsEmpty());
  EXPECT_THAT(report->aside, IsEmpty());
  expect_records(1, 4);
}

TEST_F(SalvageTest, every_flipped_byte_loses_what_it_says_and_nothing_else) {
  write(9);
  env::DiskState state = world_.disk().now();
  std::size_t damaged_ones = 0;
  for (const auto& [path, inode] : state.names) {
    if (!path.ends_with(".log")) continue;
    for (std::size_t at = 0; at < state.files[inode].size(); at += 331) {
      SCOPED_TRACE(path + " at " + std::to_string(at));
      env::DiskState damaged = state;
      damaged.files[inode][at] ^= 0x40;
      env::SimDisk disk(damaged);
      const auto random = env::seeded_random(8);
      const auto process = env::posix_process();
      const auto report = salvage(disk, *random, *process, "./world", "./new");
      ASSERT_TRUE(report) << report.error().to_string();
      std::uint64_t accounted = report->last + 1 - report->first;
      if (report->lost.bytes.empty()) {  // behind the batches of a full segment
        EXPECT_EQ(accounted, 9u);
        continue;
      }
      ++damaged_ones;
      ASSERT_EQ(report->lost.bytes.size(), 1u);
      EXPECT_EQ(report->lost.bytes[0].path, path);
      EXPECT_LE(report->lost.bytes[0].begin, at);
      EXPECT_GT(report->lost.bytes[0].end, at);
      // Of those that were there, each is in the journal, aside, or lost; but nobody can count what
      // was in a last segment without a header.
      for (const auto& aside : report->aside) accounted += aside.last - aside.first + 1;
      for (const auto& lost : report->lost.records) accounted += lost.last - lost.first + 1;
      if (at >= kBlockBytes) {
        EXPECT_EQ(accounted, 9u);
      }
    }
  }
  EXPECT_GT(damaged_ones, 80u);
}

TEST_F(SalvageTest, one_that_is_interrupted_says_so) {
  write(9);
  const std::size_t begin = world_.disk().operations().size();
  ASSERT_TRUE(run());
  std::size_t incomplete = 0;
  for (std::size_t at = begin; at <= world_.disk().operations().size(); ++at) {
    env::SimDisk after(
        env::after_crash(world_.disk().start(), world_.disk().operations(), env::Crash{.at = at}));
    const auto names = after.list("./new/journal");
    if (!names || names->empty()) continue;
    const auto marker = env::read_file(after, "./new/SALVAGED", 1 << 20);
    ASSERT_TRUE(marker) << "operation " << at << ": a journal without the mark";
    if (base::as_text(*marker).find("\"complete\": false") != std::string::npos) ++incomplete;
  }
  EXPECT_GT(incomplete, 5u);
  EXPECT_THAT(run().error().to_string(), HasSubstr("./new: is there already"));
}

}  // namespace
}  // namespace holdfast::store::testing
