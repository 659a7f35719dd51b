// SPDX-License-Identifier: Apache-2.0
// Verifying worlds that have snapshots and an index, which tell of their journal.
#include <gmock/gmock.h>

#include "node/history_feed.h"
#include "node/testing_world.h"
#include "node/verify.h"
#include "store/testing_snapshots.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VerifyWorldTest : public testing::LabWorldTest {
 protected:
  // Closes the world, and looks at it.
  VerifyReport verify() {
    open_.reset();
    const env::DiskState before = disk_->now();
    VerifyReport report;
    {
      const auto folder = store::WorldFolder::open(*disk_, *random_, *process_, "./world").take();
      const auto place = store::WorldPlace::of(folder);
      const auto blobs = store::BlobsLook::open(place).take();
      base::Errors errors;
      const Witnesses witnesses = Witnesses::of(blobs.get(), place, errors);
      const auto journal = store::JournalFiles::open(folder).take();
      report = verify_journal(journal, machines_, witnesses);
      report.errors.append(std::move(errors));
    }
    EXPECT_EQ(disk_->now().files, before.files) << "something was changed";
    EXPECT_EQ(disk_->now().names, before.names);
    return report;
  }

  static std::vector<std::string> texts(const base::Errors& errors) {
    std::vector<std::string> texts;
    for (const base::Error& error : errors) texts.push_back(error.to_string());
    return texts;
  }

  void index() {
    auto folder = store::WorldFolder::open(*disk_, *random_, *process_, "./world").take();
    auto journal = store::open_file_journal(folder, store::testing::small_segments()).take();
    ASSERT_TRUE(rebuild_history(folder, *journal.journal));
    ASSERT_TRUE(journal.journal->close());
  }
};

TEST_F(VerifyWorldTest, a_trimmed_journal_is_replayed_from_its_oldest_snapshot) {
  begin();
  for (int i = 0; i < 3; ++i) {
    send_many(40);
    take_snapshot();
  }
  send_many(7);
  const store::RecordNumber first = open_->journal().first();
  ASSERT_GT(first, 1u);
  const VerifyReport report = verify();
  EXPECT_THAT(texts(report.errors), IsEmpty());
  EXPECT_EQ(report.replayed, 47u);
  EXPECT_EQ(report.snapshots, 2u);
  EXPECT_EQ(report.snapshots_replayed, 1u);
  EXPECT_EQ(report.replay_stopped, "");
  EXPECT_THAT(report.notes,
              ElementsAre("the journal begins with record " + std::to_string(first) +
                          ", and replay with record 82, behind the snapshot before record 82"));
}

TEST_F(VerifyWorldTest, snapshots_are_what_replay_comes_to) {
  begin();
  send_many(10);
  take_snapshot();
  send_many(10);
  {
    const VerifyReport report = verify();
    EXPECT_THAT(texts(report.errors), IsEmpty());
    EXPECT_EQ(report.replayed, 21u);
    EXPECT_EQ(report.snapshots_replayed, 1u);
  }
  open();
  take_snapshot();
  open_->blobs()
      .database()
      .run("UPDATE snapshots SET hash = (SELECT hash FROM snapshots ORDER BY number LIMIT 1)")
      .take();
  EXPECT_THAT(texts(verify().errors),
              ElementsAre("the snapshot before record 22: is not what replaying the records before "
                          "it comes to"));
}

TEST_F(VerifyWorldTest, an_older_journal_is_told_by_the_snapshots_and_the_index) {
  begin();
  send_many(10);
  open_.reset();
  const env::DiskState older = disk_->now();
  open();
  send_many(10);
  take_snapshot();
  open_.reset();
  env::DiskState mixed = store::testing::with_blobs_of(older, disk_->now());
  disk_ = std::make_unique<env::SimDisk>(std::move(mixed));
  EXPECT_THAT(texts(verify().errors),
              ElementsAre("record 12: is not there, but the journal ends with record 11: the "
                          "snapshot before record 22 was taken when it was"));
}

TEST_F(VerifyWorldTest, an_index_that_has_seen_more_than_there_is_or_something_else_is_found) {
  begin();
  send_many(10);
  open_.reset();
  const env::DiskState older = disk_->now();
  for (const bool goes_on : {false, true}) {
    disk_ = std::make_unique<env::SimDisk>(older);
    open();
    send_many(10);
    open_.reset();
    index();
    EXPECT_THAT(texts(verify().errors), IsEmpty());
    const env::DiskState newer = disk_->now();
    disk_ = std::make_unique<env::SimDisk>(older);
    if (goes_on) {
      open();
      send_many(15);
      open_.reset();
    }
    env::DiskState mixed = disk_->now();
    const std::uint64_t inode = mixed.files.rbegin()->first + 1;
    mixed.names["./world/history.db"] = inode;
    mixed.files[inode] = newer.files.at(newer.names.at("./world/history.db"));
    disk_ = std::make_unique<env::SimDisk>(std::move(mixed));
    EXPECT_THAT(texts(verify().errors),
                ElementsAre(goes_on ? "record 21: is not the one that history.db has seen"
                                    : "history.db: has seen record 21, but the journal ends with "
                                      "record 11"));
  }
}

TEST_F(VerifyWorldTest, a_snapshot_that_lost_a_blob_is_found_and_the_next_one_serves) {
  begin();
  for (int i = 0; i < 3; ++i) {
    send_many(40);
    take_snapshot();
  }
  const auto entries = open_->snapshots().list().take();
  {
    auto remove = open_->blobs().database().prepare("DELETE FROM blobs WHERE hash = ?1").take();
    remove.bind(1, base::ByteView(entries.back().hash.bytes));
    remove.step().take();
  }
  send_many(3);
  const VerifyReport report = verify();
  EXPECT_EQ(report.replayed, 3u);
  ASSERT_FALSE(report.errors.empty());
  EXPECT_THAT(report.errors[0].to_string(), HasSubstr("there is no such blob"));
}

}  // namespace
}  // namespace holdfast::node
