// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <gmock/gmock.h>

#include "store/folder_backup.h"
#include "store/restore_backup.h"
#include "store/testing_faults.h"
#include "store/testing_snapshots.h"

namespace holdfast::store::testing {
namespace {

using ::testing::HasSubstr;

// A world that is written while it is backed up.
class LiveSource : public BackupSource {
 public:
  explicit LiveSource(OpenSnapshots& open) : open_(open), pin_(open.journal().pin(0)) {}

  env::Disk& disk() override { return open_.world->folder.disk(); }
  const std::string& path() const override { return open_.world->folder.path(); }
  const JournalId& id() const override { return open_.world->folder.id(); }
  RecordNumber first() const override { return pin_->first(); }
  RecordNumber last() override { return open_.journal().durable(); }
  base::Result<bool> visit_database(const std::string& name, Step step,
                                    const Between& between) override {
    if (name != kKernelBlobs)
      return visit_closed_database(WorldPlace::of(open_.world->folder), name, std::move(step),
                                   between);
    const Step own = std::move(step);
    while (TRY(own(open_.blobs->database()))) TRY(between());
    return true;
  }
  base::Result<void> check() override {
    if (pin_->holds()) return {};
    return base::Error(base::ErrorCode::kTooLarge, "gone");
  }

 private:
  OpenSnapshots& open_;
  const std::unique_ptr<JournalPin> pin_;
};

class BackupTest : public ::testing::Test {
 protected:
  void open() { open_ = open_snapshots(disk_, *random_).take(); }

  // So much that a copy of the blobs takes several steps.
  void fill() {
    open();
    for (std::size_t state = 0; state < 6; ++state) live();
    for (std::size_t i = 0; i < 40; ++i)
      ASSERT_TRUE(open_->blobs->put(base::Bytes(20'000, static_cast<std::uint8_t>(i))));
    ASSERT_TRUE(open_->blobs->sync());
  }

  // Some records, a snapshot, and what a node then trims.
  void live() {
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(commit_batch(open_->journal(), 1, 3000));
    ASSERT_TRUE(add_tree(*open_, states_++));
    const RecordNumber needed = records_needed(open_->snapshots->list().take());
    ASSERT_TRUE(open_->journal().trim(needed));
    ASSERT_TRUE(open_->journal().prepare());
  }

  using Progress = std::function<base::Result<void>()>;
  base::Result<BackupReport> back_up(const Progress& progress = {}) {
    LiveSource source(*open_);
    BackupOptions options;
    options.time_ns = 5;
    options.progress = [&](std::uint64_t done, std::uint64_t total) -> base::Result<void> {
      EXPECT_LE(done, total);
      return progress ? progress() : base::Result<void>();
    };
    return make_backup(source, {*to_, *random_, *process_, "./backup"}, options);
  }

  base::Result<RestoredBackup> restore(env::Disk& disk, const std::string& path = "./restored") {
    return restore_backup("./backup", {disk, *random_, *process_, path, 9});
  }

  // The world opens, every snapshot is of its journal, and all records up to this one are there.
  void expect_whole(env::Disk& disk, RecordNumber last, const std::string& path = "./restored") {
    const auto world = open_snapshots(disk, *random_, path);
    ASSERT_TRUE(world) << world.error().to_string();
    Journal& journal = (*world)->journal();
    EXPECT_GE(journal.durable(), last);
    const auto entries = (*world)->snapshots->list().take();
    EXPECT_GE(entries.size(), 1u);
    for (const SnapshotEntry& entry : entries) {
      const auto bytes = (*world)->snapshots->read(journal, entry);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
    }
    EXPECT_LE(journal.first(), entries.back().next_record - 1);
    const auto records = read_all(journal, journal.first());
    ASSERT_TRUE(records) << records.error().to_string();
    EXPECT_EQ(journal.first() + records->size() - 1, journal.durable());
    EXPECT_TRUE(commit_batch(journal, 1));
  }

  env::SimDisk disk_;
  std::unique_ptr<env::SimDisk> to_ = std::make_unique<env::SimDisk>();
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<OpenSnapshots> open_;
  std::size_t states_ = 0;
};

TEST_F(BackupTest, snapshots_and_trims_between_any_two_steps_leave_it_consistent) {
  fill();
  // Once at each call in turn, and then at all of them.
  std::size_t calls = 0;
  ASSERT_TRUE(back_up([&] { return ++calls, base::Result<void>(); }));
  ASSERT_GT(calls, 5u);
  for (std::size_t at = 0; at <= calls; ++at) {
    SCOPED_TRACE(at);
    to_ = std::make_unique<env::SimDisk>();
    const RecordNumber before = open_->journal().durable();
    std::size_t call = 0;
    const auto report = back_up([&] {
      if (at == calls || call == at) live();
      ++call;
      return base::Result<void>();
    });
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_GE(report->manifest.last, before);
    const auto restored = restore(*to_);
    ASSERT_TRUE(restored) << restored.error().to_string();
    expect_whole(*to_, before);
  }
}

TEST_F(BackupTest, repeated_it_copies_no_finished_segment_again) {
  fill();
  const auto first = back_up();
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->kept_segments, 0u);
  const auto second = back_up();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(second->manifest.number, 2u);
  std::uint64_t segments = 0;
  for (const BackupFile& file : second->manifest.files)
    if (file.name.starts_with("journal/")) ++segments;
  ASSERT_GT(segments, 1u);
  EXPECT_EQ(second->kept_segments, segments - 1) << "all but the last";
  EXPECT_LT(second->copied_bytes, first->copied_bytes);
  // Nothing of the first is left that the second does not need.
  EXPECT_EQ(to_->list("./backup/data").take().size(), second->manifest.files.size());
}

TEST_F(BackupTest, a_copied_segment_that_was_damaged_is_copied_again) {
  fill();
  const auto first = back_up();
  ASSERT_TRUE(first);
  for (const BackupFile& file : first->manifest.files) {
    if (file.bytes != file.length || !file.name.starts_with("journal/")) continue;
    auto opened = to_->open("./backup/data/" + file.stored, env::OpenMode::kReadWrite).take();
    ASSERT_TRUE(env::write_all(*opened, 5000, base::as_bytes("?")));
  }
  const auto second = back_up();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ(second->kept_segments, 0u);
  ASSERT_TRUE(restore(*to_));
}

TEST_F(BackupTest, wherever_it_is_interrupted_the_one_before_stays_and_the_next_completes_it) {
  fill();
  const auto first = back_up();
  ASSERT_TRUE(first);
  const env::DiskState with_first = to_->now();
  live();
  for (std::uint64_t call = 0;; call += 7) {
    SCOPED_TRACE(call);
    to_ = std::make_unique<env::SimDisk>(with_first);
    to_->fail_call(call, env::DiskFault::kIoError);
    const auto second = back_up();
    if (second) {
      ASSERT_GT(call, 20u);
      break;
    }
    // Whatever the power cut leaves is the first, or the second as a whole.
    env::SimDisk cut(after_worst_cut(*to_));
    const auto restored = restore(cut);
    ASSERT_TRUE(restored) << restored.error().to_string();
    EXPECT_TRUE(restored->manifest.number == 1 || restored->manifest.number == 2);
    expect_whole(cut, restored->manifest.last);
    // The same process, or the next one, goes on.
    const auto again = back_up();
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_GE(again->manifest.number, 2u);
  }
}

TEST_F(BackupTest, one_that_was_never_finished_is_none) {
  fill();
  const auto interrupted = back_up([] { return base::Error(base::ErrorCode::kEnded, "enough"); });
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code(), base::ErrorCode::kEnded);
  const auto restored = restore(*to_);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code(), base::ErrorCode::kNotFound);
  EXPECT_THAT(restored.error().message(), HasSubstr("no finished backup"));
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore(*to_));
}

TEST_F(BackupTest, without_room_it_is_refused_and_the_world_does_not_notice) {
  fill();
  const auto whole = back_up();
  ASSERT_TRUE(whole);
  for (std::uint64_t room = 0; room < whole->copied_bytes; room += whole->copied_bytes / 12) {
    SCOPED_TRACE(room);
    to_ = std::make_unique<env::SimDisk>();
    to_->set_capacity(room);
    const auto refused = back_up([&] {
      live();
      return base::Result<void>();
    });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable) << refused.error().to_string();
    live();
    to_->set_capacity(std::nullopt);
    const auto completed = back_up();
    ASSERT_TRUE(completed) << completed.error().to_string();
    ASSERT_TRUE(restore(*to_));
  }
}

TEST_F(BackupTest, any_flipped_byte_of_a_file_keeps_it_from_being_restored) {
  fill();
  const auto made = back_up();
  ASSERT_TRUE(made);
  std::vector<std::string> paths = {"./backup/BACKUP"};
  for (const BackupFile& file : made->manifest.files)
    paths.push_back("./backup/data/" + file.stored);
  const env::DiskState whole = to_->now();
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    env::DiskState damaged = whole;
    base::Bytes& content = damaged.files.at(damaged.names.at(path));
    content[content.size() / 2] ^= 1;
    env::SimDisk disk(damaged);
    const auto restored = restore(disk);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code(), base::ErrorCode::kCorrupt);
    EXPECT_THAT(restored.error().where(), HasSubstr(path));
  }
}

// The folder of the copies was removed, perhaps.
TEST_F(BackupTest, a_database_that_cannot_be_copied_is_not_left_out) {
  class Lost : public LiveSource {
   public:
    using LiveSource::LiveSource;
    base::Result<bool> visit_database(const std::string&, Step, const Between&) override {
      return base::Error(base::ErrorCode::kNotFound, "./backup/data", "open: no such directory");
    }
  };
  fill();
  Lost source(*open_);
  const auto made = make_backup(source, {*to_, *random_, *process_, "./backup"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), base::ErrorCode::kNotFound);
}

TEST_F(BackupTest, databases_are_synced_little_by_little) {
  open();
  live();
  for (std::size_t i = 0; i < 1200; ++i) {  // 24 MB
    base::Bytes bytes(20'000, static_cast<std::uint8_t>(i));
    bytes[0] = static_cast<std::uint8_t>(i >> 8);  // no two are the same
    ASSERT_TRUE(open_->blobs->put(bytes));
  }
  ASSERT_TRUE(open_->blobs->sync());
  ASSERT_TRUE(back_up());
  std::uint64_t written = 0;
  std::uint64_t most = 0;
  for (const env::DiskOperation& each : to_->operations()) {
    if (each.kind == env::DiskOperation::Kind::kSync) written = 0;
    if (each.kind == env::DiskOperation::Kind::kWrite) written += each.bytes.size();
    most = std::max(most, written);
  }
  EXPECT_LT(most, std::uint64_t{12} << 20);
}

TEST_F(BackupTest, a_folder_of_something_else_is_left_alone) {
  fill();
  ASSERT_TRUE(to_->make_directory("./backup"));
  ASSERT_TRUE(env::replace_file(*to_, "./backup/thesis.txt", base::as_bytes("mine")));
  const auto refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("thesis.txt"));
}

// Its files would be removed as those of an earlier backup.
TEST_F(BackupTest, a_folder_with_data_of_something_else_is_left_alone) {
  fill();
  ASSERT_TRUE(to_->make_directory("./backup"));
  ASSERT_TRUE(to_->make_directory("./backup/data"));
  ASSERT_TRUE(env::replace_file(*to_, "./backup/data/thesis.txt", base::as_bytes("mine")));
  const auto refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_TRUE(env::read_file(*to_, "./backup/data/thesis.txt", 16));
}

TEST_F(BackupTest, a_file_among_the_copies_that_is_not_a_copy_stays) {
  fill();
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(env::replace_file(*to_, "./backup/data/thesis.txt", base::as_bytes("mine")));
  ASSERT_TRUE(back_up());
  EXPECT_TRUE(env::read_file(*to_, "./backup/data/thesis.txt", 16));
}

TEST_F(BackupTest, the_backup_of_another_world_is_not_replaced) {
  fill();
  ASSERT_TRUE(back_up());
  open_.reset();
  open_ = open_snapshots(disk_, *random_, "./other").take();
  live();
  const auto refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("another world"));
}

TEST_F(BackupTest, each_restore_begins_another_life) {
  fill();
  const auto made = back_up();
  ASSERT_TRUE(made);
  const auto one = restore(*to_, "./one");
  const auto two = restore(*to_, "./two");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->restored.after, made->manifest.last);
  EXPECT_NE(one->restored.life, 0u);
  EXPECT_NE(one->restored.life, two->restored.life);
  // And a restore of the backup of a restored world begins the next one.
  open_.reset();
  disk_.set_capacity(std::nullopt);
  const WorldFile file = read_world_file(*to_, "./one").take();
  ASSERT_EQ(file.restored.size(), 1u);
  EXPECT_EQ(file.restored[0], one->restored);
  EXPECT_EQ(file.life(), one->restored.life);
  EXPECT_EQ(read_world_file(disk_, "./world").take().id, file.id);
  EXPECT_EQ(read_world_file(disk_, "./world").take().life(), 0u);
}

TEST_F(BackupTest, a_restore_that_was_interrupted_cannot_be_opened) {
  fill();
  ASSERT_TRUE(back_up());
  const env::DiskState whole = to_->now();
  for (std::uint64_t call = 0;; ++call) {
    SCOPED_TRACE(call);
    env::SimDisk disk(whole);
    disk.fail_call(call, env::DiskFault::kIoError);
    if (restore(disk)) {
      ASSERT_GT(call, 20u);
      break;
    }
    env::SimDisk cut(after_worst_cut(disk));
    const auto names = cut.list("./restored");
    // Nothing is there, or nobody can take it for a world, or it is whole.
    if (!names || !std::ranges::binary_search(*names, std::string("WORLD"))) continue;
    if (std::ranges::binary_search(*names, std::string(kRestoringFile))) {
      const auto opened = open_snapshots(cut, *random_, "./restored");
      ASSERT_FALSE(opened);
      EXPECT_THAT(opened.error().message(), HasSubstr("a restore into it was interrupted"));
      continue;
    }
    expect_whole(cut, 1, "./restored");
  }
}

TEST_F(BackupTest, a_world_that_nobody_has_open_is_backed_up_from_its_folder) {
  fill();
  const RecordNumber last = open_->journal().durable();
  open_.reset();  // as a process that died
  WorldFolder folder = WorldFolder::open(disk_, *random_, *process_, "./world").take();
  auto source = FolderBackup::open(folder).take();
  const auto made = make_backup(source, {*to_, *random_, *process_, "./backup"});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->manifest.last, last);
  ASSERT_TRUE(restore(*to_));
  expect_whole(*to_, last);
}

TEST(WorldFileTest, a_version_from_later_is_refused_naming_both) {
  WorldFile file;
  file.restored.push_back({7, 100, 5});
  base::Bytes bytes = encode(file);
  EXPECT_EQ(decode_world_file(bytes, "WORLD").take().restored, file.restored);
  bytes[7] = '3';
  const auto refused = decode_world_file(bytes, "WORLD");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("is of version 3, and this program knows versions 1 and 2"));
}

TEST(WorldFileTest, one_that_was_never_restored_is_as_older_programs_write_it) {
  WorldFile file;
  file.is_begun = true;
  const base::Bytes bytes = encode(file);
  EXPECT_EQ(bytes.size(), 32u);
  EXPECT_EQ(base::as_text(base::ByteView(bytes).first(8)), "HLDWRLD1");
}

TEST(WorldFileTest, every_flipped_byte_is_found) {
  WorldFile file;
  file.restored.push_back({7, 100, 5});
  const base::Bytes whole = encode(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    base::Bytes bytes = whole;
    bytes[i] ^= 4;
    EXPECT_FALSE(decode_world_file(bytes, "WORLD")) << i;
  }
}

}  // namespace
}  // namespace holdfast::store::testing
