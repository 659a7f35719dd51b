// SPDX-License-Identifier: Apache-2.0
#include "store/journal_witness.h"

#include <gmock/gmock.h>

#include "store/folder_backup.h"
#include "store/seals.h"
#include "store/testing_history.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDamagedSegment = "./world/journal/000000000001.log";

// A process with three records, each a batch, that `knows` them in one way or another, dies, and
// the last batch is damaged.
class JournalWitnessTest : public ::testing::Test {
 protected:
  void open() {
    open_ = open_snapshots(disk_, *random_).take();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(commit_batch(open_->journal(), 1));
  }
  base::Result<std::unique_ptr<OpenWorld>> after_damage() {
    env::DiskState state = disk_.now();
    state.files.at(state.names.at(kDamagedSegment))[3 * kBlockBytes + 100] ^= 1;
    open_.reset();
    after_ = std::make_unique<env::SimDisk>(state);
    before_ = state.files;
    return open_world(*after_, *random_, "./world", small_segments());
  }
  void expect_refusal_by(const std::string& file, RecordNumber record = 3) {
    const auto refused = after_damage();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
    EXPECT_EQ(refused.error().where(), std::string(kDamagedSegment) + " at 12288");
    EXPECT_THAT(refused.error().message(), HasSubstr("ends with record 2, but ./world/" + file +
                                                     " knows record " + std::to_string(record)));
    EXPECT_THAT(refused.error().message(), HasSubstr("holdfast salvage"));
    for (const auto& [number, bytes] : before_) {
      if (number == after_->now().names.at("./world/LOCK")) continue;
      EXPECT_EQ(after_->now().files.at(number), bytes) << "nothing may be changed";
    }
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<OpenSnapshots> open_;
  std::unique_ptr<env::SimDisk> after_;
  std::map<std::uint64_t, base::Bytes> before_;
};

TEST_F(JournalWitnessTest, without_one_a_damaged_last_batch_looks_torn) {
  open();
  const auto opened = after_damage();
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_TRUE((*opened)->report().torn);
}

TEST_F(JournalWitnessTest, the_index_knows) {
  open();
  const auto index = HistoryIndex::open(open_->world->folder).take();
  ASSERT_TRUE(index->apply({}, 3, {}));
  expect_refusal_by("history.db");
}

// Such a backup could not be restored, and would take the place of one that can.
TEST_F(JournalWitnessTest, a_world_that_has_lost_records_is_not_backed_up) {
  open();
  const auto index = HistoryIndex::open(open_->world->folder).take();
  ASSERT_TRUE(index->apply({}, 3, {}));
  ASSERT_FALSE(after_damage());
  const auto process = env::posix_process();
  WorldFolder folder = WorldFolder::open(*after_, *random_, *process, "./world").take();
  const auto refused = FolderBackup::open(folder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message(), HasSubstr("which was acknowledged and is lost"));
}

TEST_F(JournalWitnessTest, an_index_that_was_only_begun_knows_nothing) {
  open();
  const auto index = HistoryIndex::open(open_->world->folder).take();
  index->begin_with(9);
  ASSERT_TRUE(index->apply({}, 8, {}));
  EXPECT_EQ(newest_witness(open_->world->folder).record, 0u);
}

TEST_F(JournalWitnessTest, the_seals_know) {
  open();
  const auto seals = Seals::open(open_->world->folder).take();
  Seal seal;
  seal.first = 1;
  seal.last = 3;
  ASSERT_TRUE(seals->add({&seal, 1}, 1));
  expect_refusal_by("seals.db");
}

TEST_F(JournalWitnessTest, the_snapshots_know) {
  open();
  ASSERT_TRUE(open_->snapshots->add(open_->journal(), 4, base::as_bytes("state"), 0));
  expect_refusal_by("blobs.db");
}

TEST_F(JournalWitnessTest, the_one_that_knows_most_is_named) {
  open();
  ASSERT_TRUE(open_->snapshots->add(open_->journal(), 3, base::as_bytes("state"), 0));
  const auto index = HistoryIndex::open(open_->world->folder).take();
  ASSERT_TRUE(index->apply({}, 3, {}));
  const JournalWitness witness = newest_witness(open_->world->folder);
  EXPECT_EQ(witness.record, 3u);
  EXPECT_EQ(witness.path, "./world/history.db");
}

TEST_F(JournalWitnessTest, one_that_knows_no_more_than_the_journal_refuses_nothing) {
  open();
  const auto index = HistoryIndex::open(open_->world->folder).take();
  ASSERT_TRUE(index->apply({}, 2, {}));
  const auto opened = after_damage();
  EXPECT_TRUE(opened) << opened.error().to_string();
}

TEST_F(JournalWitnessTest, a_file_that_cannot_be_read_is_none) {
  open();
  {
    const auto index = HistoryIndex::open(open_->world->folder).take();
    ASSERT_TRUE(index->apply({}, 3, {}));
  }
  const auto file = disk_.open("./world/history.db", env::OpenMode::kReadWrite).take();
  ASSERT_TRUE(env::write_all(*file, 0, base::Bytes(4096, 0x5a)));
  EXPECT_EQ(newest_witness(open_->world->folder).record, 0u);
}

}  // namespace
}  // namespace holdfast::store::testing
