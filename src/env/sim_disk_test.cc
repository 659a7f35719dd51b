// SPDX-License-Identifier: Apache-2.0
#include "env/sim_disk.h"

#include <gtest/gtest.h>

#include <set>

#include "env/crash.h"

namespace holdfast::env {
namespace {

// What "a" may hold after a power cut at the end of the run; "-" when it is not there.
std::set<std::string> possible(const SimDisk& disk) {
  std::set<std::string> found;
  for_each_crash(disk.operations(), [&](const Crash& crash) {
    if (crash.at < disk.operations().size()) return;
    const DiskState state = after_crash(disk.start(), disk.operations(), crash);
    const auto name = state.names.find("./a");
    found.insert(
        name == state.names.end() ? "-" : std::string(base::as_text(state.files.at(name->second))));
  });
  return found;
}

std::unique_ptr<File> synced_file(SimDisk& disk, std::string_view text) {
  auto file = *disk.open("./a", OpenMode::kCreate);
  EXPECT_TRUE(write_all(*file, 0, base::as_bytes(text)));
  EXPECT_TRUE(file->sync_data());
  EXPECT_TRUE(disk.sync_directory("."));
  return file;
}

TEST(SimDisk, synced_write_in_a_synced_folder_is_certain) {
  SimDisk disk;
  const auto file = synced_file(disk, "abc");
  EXPECT_EQ(possible(disk), std::set<std::string>{"abc"});
}

TEST(SimDisk, write_may_be_lost_until_it_is_synced) {
  SimDisk disk;
  const auto file = synced_file(disk, "abc");
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("x")));
  EXPECT_EQ(possible(disk), (std::set<std::string>{"abc", "xbc"}));
  ASSERT_TRUE(file->sync_data());
  EXPECT_EQ(possible(disk), std::set<std::string>{"xbc"});
}

TEST(SimDisk, name_may_be_lost_until_its_folder_is_synced) {
  SimDisk disk;
  auto file = *disk.open("./a", OpenMode::kCreate);
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("abc")));
  ASSERT_TRUE(file->sync_data());
  EXPECT_EQ(possible(disk), (std::set<std::string>{"-", "abc"}));
}

TEST(SimDisk, rename_and_removal_may_be_undone_until_their_folder_is_synced) {
  SimDisk disk;
  const auto file = synced_file(disk, "abc");
  ASSERT_TRUE(disk.rename("./a", "./b"));
  EXPECT_EQ(possible(disk), (std::set<std::string>{"-", "abc"}));
  ASSERT_TRUE(disk.sync_directory("."));
  EXPECT_EQ(possible(disk), std::set<std::string>{"-"});
}

TEST(SimDisk, write_is_torn_between_sectors) {
  SimDisk disk;
  const auto file = synced_file(disk, std::string(3 * kSectorBytes, '.'));
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes(std::string(3 * kSectorBytes, 'x'))));
  std::set<std::string> sectors;
  for (const std::string& text : possible(disk)) {
    ASSERT_EQ(text.size(), 3 * kSectorBytes);
    std::string shape;
    for (std::size_t sector = 0; sector < 3; ++sector) {
      const std::string part = text.substr(sector * kSectorBytes, kSectorBytes);
      ASSERT_EQ(part, std::string(kSectorBytes, part[0])) << "a sector is written whole";
      shape += part[0];
    }
    sectors.insert(shape);
  }
  EXPECT_EQ(sectors, (std::set<std::string>{"xxx", "...", ".xx", "x.x", "xx.", "x.."}));
}

TEST(SimDisk, two_writes_may_arrive_in_either_order) {
  SimDisk disk;
  const auto file = synced_file(disk, "...");
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("xx")));
  ASSERT_TRUE(write_all(*file, 1, base::as_bytes("yy")));
  EXPECT_EQ(possible(disk), (std::set<std::string>{"...", "xx.", ".yy", "xyy", "xxy"}));
}

TEST(SimDisk, failed_sync_drops_what_it_should_have_saved_and_the_next_succeeds) {
  SimDisk disk;
  const auto file = synced_file(disk, "abc");
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("x")));
  disk.fail_call(0, DiskFault::kIoError);
  EXPECT_FALSE(file->sync_data());
  EXPECT_TRUE(file->sync_data());
  base::Bytes seen(3);
  ASSERT_TRUE(read_all(*file, 0, seen));
  EXPECT_EQ(base::as_text(seen), "xbc") << "readers see it until the power is cut";
  EXPECT_EQ(possible(disk), (std::set<std::string>{"abc", "xbc"}));
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("x")));
  EXPECT_TRUE(file->sync_data());
  EXPECT_EQ(possible(disk), std::set<std::string>{"xbc"}) << "writing it again saves it";
}

TEST(SimDisk, death_of_a_process_keeps_what_it_did_and_nothing_it_does_later) {
  SimDisk disk;
  const auto file = synced_file(disk, "abc");
  const auto lock = *disk.lock("./LOCK", "the one that dies");
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("x")));
  const auto after = disk.after_process_death();
  ASSERT_TRUE(write_all(*file, 0, base::as_bytes("y")));
  EXPECT_EQ(possible(*after), (std::set<std::string>{"abc", "xbc"})) << "still not synced";
  EXPECT_TRUE(after->lock("./LOCK", "the next one"));
}

TEST(SimDisk, faults_happen_once_and_in_their_way) {
  SimDisk disk;
  auto file = *disk.open("./a", OpenMode::kCreate);
  disk.fail_call(1, DiskFault::kShort);
  EXPECT_EQ(*file->write_at(0, base::as_bytes("abcd")), 4u);
  EXPECT_EQ(*file->write_at(0, base::as_bytes("efgh")), 2u);
  disk.fail_call(0, DiskFault::kInterrupted);
  EXPECT_EQ(*file->write_at(0, base::as_bytes("xx")), 0u);
  EXPECT_TRUE(write_all(*file, 0, base::as_bytes("ok")));
  disk.fail_call(0, DiskFault::kNoSpace);
  EXPECT_EQ(file->write_at(0, base::as_bytes("zzzz")).error().code(),
            base::ErrorCode::kUnavailable);
  disk.fail_call(0, DiskFault::kIoError);
  EXPECT_EQ(disk.rename("./a", "./b").error().code(), base::ErrorCode::kIo);
  EXPECT_TRUE(disk.rename("./a", "./b"));
}

TEST(SimDisk, capacity_bounds_what_files_hold) {
  SimDisk disk;
  disk.set_capacity(5);
  auto file = *disk.open("./a", OpenMode::kCreate);
  EXPECT_TRUE(write_all(*file, 0, base::as_bytes("abcd")));
  EXPECT_EQ(file->write_at(4, base::as_bytes("ef")).error().code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(file->preallocate(6).error().code(), base::ErrorCode::kUnavailable);
  EXPECT_TRUE(write_all(*file, 0, base::as_bytes("over")));
}

// Writes nothing, for ever.
class StuckFile : public File {
 public:
  base::Result<std::size_t> read_at(std::uint64_t, std::span<std::uint8_t>) const override {
    return std::size_t{0};
  }
  base::Result<std::size_t> write_at(std::uint64_t, base::ByteView) override {
    return std::size_t{0};
  }
  base::Result<void> sync_data() override { return {}; }
  base::Result<void> truncate(std::uint64_t) override { return {}; }
  base::Result<void> preallocate(std::uint64_t) override { return {}; }
  base::Result<std::uint64_t> size() const override { return std::uint64_t{0}; }
  base::Result<bool> is_at(const std::string&) const override { return true; }
};

TEST(Disk, write_that_does_not_get_on_is_an_error) {
  StuckFile file;
  EXPECT_EQ(write_all(file, 0, base::as_bytes("a")).error().code(), base::ErrorCode::kIo);
}

}  // namespace
}  // namespace holdfast::env
