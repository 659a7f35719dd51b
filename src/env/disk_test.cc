// SPDX-License-Identifier: Apache-2.0
// What Disk promises, on the real one and on the simulated one.
#include "env/disk.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix_disk.h"
#include "env/sim_disk.h"
#include "env/testing.h"

namespace holdfast::env {
namespace {

struct OnPosix {
  testing::TemporaryFolder folder;
  std::unique_ptr<Disk> disk = posix_disk();
  std::string root = folder.path();
};

struct OnSim {
  std::unique_ptr<Disk> disk = std::make_unique<SimDisk>();
  std::string root = ".";
};

template <class Where>
class DiskTest : public ::testing::Test {
 protected:
  Disk& disk() { return *where_.disk; }
  std::string path(const std::string& name) { return where_.root + "/" + name; }
  std::string text(const std::string& name) {
    const auto bytes = read_file(disk(), path(name), 1 << 20);
    return bytes ? std::string(base::as_text(*bytes)) : bytes.error().to_string();
  }

  Where where_;
};

using Disks = ::testing::Types<OnPosix, OnSim>;
TYPED_TEST_SUITE(DiskTest, Disks);

TYPED_TEST(DiskTest, file_holds_what_was_written_where_it_was_written) {
  auto file = *this->disk().open(this->path("a"), OpenMode::kCreate);
  ASSERT_TRUE(write_all(*file, 3, base::as_bytes("def")));
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("abc")));
  ASSERT_TRUE(file->sync_data());
  EXPECT_EQ(this->text("a"), "abcdef");
  EXPECT_EQ(*file->size(), 6u);
  ASSERT_TRUE(file->truncate(2));
  EXPECT_EQ(this->text("a"), "ab");
}

TYPED_TEST(DiskTest, gap_reads_as_zeros) {
  auto file = *this->disk().open(this->path("a"), OpenMode::kCreate);
  ASSERT_TRUE(write_all(*file, 2, base::as_bytes("x")));
  EXPECT_EQ(this->text("a"), std::string("\0\0x", 3));
}

TYPED_TEST(DiskTest, read_stops_at_the_end_of_the_file) {
  auto file = *this->disk().open(this->path("a"), OpenMode::kCreate);
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("abc")));
  base::Bytes into(10);
  EXPECT_EQ(*file->read_at(1, into), 2u);
  EXPECT_EQ(*file->read_at(3, into), 0u);
  EXPECT_EQ(*file->read_at(100, into), 0u);
  EXPECT_EQ(read_all(*file, 0, into).error().code(), base::ErrorCode::kCorrupt);
}

TYPED_TEST(DiskTest, preallocated_file_is_long_and_empty) {
  auto file = *this->disk().open(this->path("a"), OpenMode::kCreate);
  ASSERT_TRUE(file->preallocate(10'000));
  EXPECT_EQ(*file->size(), 10'000u);
  ASSERT_TRUE(file->preallocate(5));
  EXPECT_EQ(*file->size(), 10'000u);
  EXPECT_EQ(this->text("a"), std::string(10'000, '\0'));
}

TYPED_TEST(DiskTest, missing_file_is_not_found) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kReadWrite}) {
    EXPECT_EQ(this->disk().open(this->path("a"), mode).error().code(), base::ErrorCode::kNotFound);
  }
  EXPECT_EQ(this->disk().remove(this->path("a")).error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(this->disk().rename(this->path("a"), this->path("b")).error().code(),
            base::ErrorCode::kNotFound);
  EXPECT_EQ(this->disk().list(this->path("a")).error().code(), base::ErrorCode::kNotFound);
}

TYPED_TEST(DiskTest, creating_empties_what_was_there) {
  ASSERT_TRUE(replace_file(this->disk(), this->path("a"), base::as_bytes("old")));
  ASSERT_TRUE(this->disk().open(this->path("a"), OpenMode::kCreate));
  EXPECT_EQ(this->text("a"), "");
}

TYPED_TEST(DiskTest, renamed_file_takes_the_place_of_another) {
  ASSERT_TRUE(replace_file(this->disk(), this->path("a"), base::as_bytes("one")));
  ASSERT_TRUE(replace_file(this->disk(), this->path("b"), base::as_bytes("two")));
  auto file = *this->disk().open(this->path("a"), OpenMode::kReadWrite);
  ASSERT_TRUE(this->disk().rename(this->path("a"), this->path("b")));
  ASSERT_TRUE(write_all(*file, 3, base::as_bytes("!")));
  EXPECT_EQ(this->text("b"), "one!");
  EXPECT_EQ(*this->disk().list(this->where_.root), std::vector<std::string>{"b"});
}

TYPED_TEST(DiskTest, removed_file_can_be_read_by_who_has_it_open) {
  ASSERT_TRUE(replace_file(this->disk(), this->path("a"), base::as_bytes("one")));
  auto file = *this->disk().open(this->path("a"), OpenMode::kRead);
  ASSERT_TRUE(this->disk().remove(this->path("a")));
  base::Bytes into(3);
  EXPECT_EQ(*file->read_at(0, into), 3u);
}

TYPED_TEST(DiskTest, folder_lists_its_files_and_folders_in_order) {
  ASSERT_TRUE(this->disk().make_directory(this->path("f")));
  ASSERT_TRUE(this->disk().make_directory(this->path("f")));
  ASSERT_TRUE(this->disk().make_directory(this->path("f/z")));
  ASSERT_TRUE(replace_file(this->disk(), this->path("f/b"), {}));
  ASSERT_TRUE(replace_file(this->disk(), this->path("f/a"), {}));
  ASSERT_TRUE(this->disk().sync_directory(this->path("f")));
  EXPECT_EQ(*this->disk().list(this->path("f")), (std::vector<std::string>{"a", "b", "z"}));
}

TYPED_TEST(DiskTest, lock_has_one_holder_and_says_who) {
  auto lock = this->disk().lock(this->path("LOCK"), "me");
  ASSERT_TRUE(lock);
  const auto second = this->disk().lock(this->path("LOCK"), "you");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kConflict);
  EXPECT_EQ(second.error().to_string(), this->path("LOCK") + ": is held by me");
  lock->reset();
  EXPECT_TRUE(this->disk().lock(this->path("LOCK"), "you"));
  EXPECT_TRUE(this->disk().open(this->path("LOCK"), OpenMode::kRead)) << "it stays";
}

TYPED_TEST(DiskTest, file_that_is_too_large_is_not_read) {
  ASSERT_TRUE(replace_file(this->disk(), this->path("a"), base::as_bytes("abcd")));
  EXPECT_TRUE(read_file(this->disk(), this->path("a"), 4));
  EXPECT_EQ(read_file(this->disk(), this->path("a"), 3).error().code(), base::ErrorCode::kTooLarge);
}

// On a full disk a world must still open.
TYPED_TEST(DiskTest, who_only_looks_locks_what_is_there_and_writes_nothing) {
  EXPECT_EQ(this->disk().lock_to_look(this->path("LOCK")).error().code(),
            base::ErrorCode::kNotFound);
  ASSERT_TRUE(this->disk().lock(this->path("LOCK"), "me"));
  const std::string before = this->text("LOCK");
  {
    const auto look = this->disk().lock_to_look(this->path("LOCK"));
    ASSERT_TRUE(look);
    EXPECT_EQ(this->disk().lock(this->path("LOCK"), "you").error().code(),
              base::ErrorCode::kConflict);
  }
  EXPECT_EQ(this->text("LOCK"), before);
  const auto lock = this->disk().lock(this->path("LOCK"), "you");
  ASSERT_TRUE(lock);
  EXPECT_EQ(this->disk().lock_to_look(this->path("LOCK")).error().code(),
            base::ErrorCode::kConflict);
}

// A child that is told through a pipe when to end. It runs no new program, and so keeps what it
// has of its parent's.
class ForkedChild {
 public:
  template <class Work>
  explicit ForkedChild(Work work) {
    EXPECT_EQ(::pipe(pipe_), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    ::close(pipe_[1]);
    work();
    char byte = 0;
    while (::read(pipe_[0], &byte, 1) > 0) {
    }
    ::_exit(0);
  }
  ~ForkedChild() {
    ::close(pipe_[1]);
    ::waitpid(child_, nullptr, 0);
    ::close(pipe_[0]);
  }

 private:
  int pipe_[2] = {};
  pid_t child_ = -1;
};

TEST(PosixDisk, lock_that_is_given_back_is_free_although_a_forked_child_shares_it) {
  const testing::TemporaryFolder folder;
  const auto disk = posix_disk();
  const std::string path = folder.path() + "/LOCK";
  auto lock = disk->lock(path, "me");
  ASSERT_TRUE(lock);
  const ForkedChild child([] {});
  lock->reset();
  EXPECT_TRUE(disk->lock(path, "you"));
}

TEST(PosixDisk, forked_child_does_not_give_back_the_lock_of_its_parent) {
  const testing::TemporaryFolder folder;
  const auto disk = posix_disk();
  const std::string path = folder.path() + "/LOCK";
  auto lock = disk->lock(path, "me");
  ASSERT_TRUE(lock);
  int done[2];
  ASSERT_EQ(::pipe(done), 0);
  {
    const ForkedChild child([&] {
      lock->reset();
      EXPECT_EQ(::write(done[1], "x", 1), 1);
    });
    char byte = 0;
    EXPECT_EQ(::read(done[0], &byte, 1), 1);
    EXPECT_EQ(disk->lock(path, "you").error().code(), base::ErrorCode::kConflict);
  }
  ::close(done[0]);
  ::close(done[1]);
}

TEST(ReplaceFile, leaves_nothing_behind_when_the_new_file_cannot_get_the_name) {
  SimDisk disk;
  ASSERT_TRUE(replace_file(disk, "./f", base::as_bytes("old")));
  const std::uint64_t before = disk.changing_calls();
  ASSERT_TRUE(replace_file(disk, "./f", base::as_bytes("old")));
  const std::uint64_t calls = disk.changing_calls() - before;
  for (std::uint64_t call = 0; call < calls; ++call) {
    disk.fail_call(call, DiskFault::kIoError);
    const auto done = replace_file(disk, "./f", base::as_bytes("new"));
    if (done) continue;
    EXPECT_FALSE(disk.now().names.contains("./f.new")) << "call " << call;
  }
}

TEST(PosixDisk, lock_is_written_in_place_and_asks_for_no_space) {
  const testing::TemporaryFolder folder;
  const auto disk = posix_disk();
  const std::string path = folder.path() + "/LOCK";
  ASSERT_TRUE(disk->lock(path, std::string(1000, 'x') + "\n"));
  const base::Bytes long_name = *read_file(*disk, path, 1 << 20);
  const auto lock = disk->lock(path, "you");
  ASSERT_TRUE(lock);
  EXPECT_EQ(read_file(*disk, path, 1 << 20)->size(), long_name.size());
  EXPECT_EQ(disk->lock(path, "me").error().message(), "is held by you");
}

TEST(PosixDisk, lock_can_be_had_where_nothing_can_be_written) {
  const testing::TemporaryFolder folder;
  const auto disk = posix_disk();
  const std::string path = folder.path() + "/LOCK";
  ASSERT_TRUE(disk->lock(path, "somebody"));
  const unsigned long bind = MS_BIND;
  const unsigned long read_only = MS_BIND | MS_REMOUNT | MS_RDONLY;
  const char* const place = folder.path().c_str();
  if (::mount(place, place, nullptr, bind, nullptr) != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::mount(nullptr, place, nullptr, read_only, nullptr), 0);
  {
    const auto lock = disk->lock(path, "you");
    EXPECT_TRUE(lock) << lock.error().to_string();
    EXPECT_EQ(disk->lock(path, "me").error().code(), base::ErrorCode::kConflict);
  }
  EXPECT_EQ(::umount(place), 0);
}

TEST(PosixDisk, fifo_with_the_name_of_a_file_is_refused_and_not_waited_for) {
  const testing::TemporaryFolder folder;
  const auto disk = posix_disk();
  const std::string path = folder.path() + "/LOCK";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto refusal = [](const auto& result) { return result ? "" : result.error().to_string(); };
  const std::string refused = path + ": is not a regular file";
  EXPECT_EQ(refusal(disk->open(path, OpenMode::kRead)), refused);
  EXPECT_EQ(refusal(disk->open(path, OpenMode::kReadWrite)), refused);
  EXPECT_EQ(refusal(disk->open(path, OpenMode::kCreate)), refused);
  EXPECT_EQ(refusal(disk->lock(path, "me")), refused);
  EXPECT_EQ(refusal(disk->lock_to_look(path)), refused);
}

TEST(Disk, file_that_could_not_be_replaced_leaves_nothing_behind) {
  SimDisk disk;
  ASSERT_TRUE(replace_file(disk, "./a", base::as_bytes("old")));
  disk.set_capacity(10);
  EXPECT_EQ(replace_file(disk, "./a", base::Bytes(100)).error().code(),
            base::ErrorCode::kUnavailable);
  EXPECT_EQ(*disk.list("."), std::vector<std::string>{"a"});
  EXPECT_EQ(*read_file(disk, "./a", 10), base::Bytes({'o', 'l', 'd'}));
}

// As a power cut in the middle of a rename may leave it.
TEST(Disk, file_that_has_the_temporary_name_too_is_not_lost) {
  for (std::uint64_t call = 0; call < 6; ++call) {
    DiskState state;
    state.folders = {"."};
    state.files[1] = {'o', 'l', 'd'};
    state.names = {{"./a", 1}, {"./a.new", 1}};
    SimDisk disk(state);
    disk.fail_call(call, DiskFault::kIoError);
    static_cast<void>(replace_file(disk, "./a", base::as_bytes("new")).has_value());
    const std::string text(base::as_text(*read_file(disk, "./a", 10)));
    EXPECT_TRUE(text == "old" || text == "new") << call << ": " << text;
  }
}

TEST(Disk, parent_of_a_path) {
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("a"), ".");
}

}  // namespace
}  // namespace holdfast::env
