// SPDX-License-Identifier: Apache-2.0
// A journal on a real ext4, on a loop device, whose power is cut: the file system is told to drop
// everything that it has not written. Needs root and loop devices, and says so where they are
// missing. HOLDFAST_POWER_CUTS says how often.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "env/descriptor.h"
#include "env/testing.h"
#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

constexpr std::size_t kRecordBytes = 500;

// EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH; no header of the C library has them.
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kDropEverything = 2;

int wanted_cuts() {
  const char* const given = std::getenv("HOLDFAST_POWER_CUTS");
  return given != nullptr ? std::atoi(given) : 5;
}

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(cert-env33-c)
}

// An ext4 in a file, mounted as long as this lives.
class LoopDisk {
 public:
  LoopDisk() {
    is_usable_ = ::geteuid() == 0 && run("truncate -s 128M " + image()) &&
                 run("mkfs.ext4 -q -F " + image()) && run("mkdir " + folder()) && mount();
  }
  ~LoopDisk() { unmount(); }
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  bool is_usable() const { return is_usable_; }
  std::string folder() const { return temporary_.path() + "/mounted"; }
  bool mount() { return run("mount -o loop " + image() + " " + folder()); }
  bool unmount() { return run("umount " + folder()); }

  bool cut_power() {
    const env::Descriptor root(::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::uint32_t how = kDropEverything;
    return ::ioctl(root.number(), kShutdown, &how) == 0;
  }

 private:
  std::string image() const { return temporary_.path() + "/image"; }

  env::testing::TemporaryFolder temporary_;
  bool is_usable_ = false;
};

JournalOptions options() { return {.segment_bytes = 64 * 4096}; }

// Appends until the disk fails, and tells every number that it would acknowledge.
[[noreturn]] void append_until_the_end(const std::string& path, int acknowledge, unsigned seed) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  auto open = open_world(*disk, *random, path, options());
  if (!open) ::_exit(1);
  Journal& journal = (*open)->journal();
  std::mt19937 choose(seed);
  for (;;) {
    if (!commit_batch(journal, 1 + choose() % 40, kRecordBytes)) break;
    const RecordNumber durable = journal.durable();
    if (::write(acknowledge, &durable, sizeof durable) != sizeof durable) break;
    if (choose() % 20 == 0 && (!journal.mark() || !journal.prepare())) break;
    if (choose() % 30 == 0 && !journal.trim(durable / 2)) break;
  }
  ::_exit(0);
}

// Gives the last number that was acknowledged before the cut.
RecordNumber load_and_cut(LoopDisk& disk, const std::string& path, unsigned seed) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const env::Descriptor from(ends[0]);
  env::Descriptor to(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) append_until_the_end(path, to.number(), seed);
  to = env::Descriptor();
  RecordNumber acknowledged = 0;
  EXPECT_EQ(::read(from.number(), &acknowledged, sizeof acknowledged), 8) << "it did not begin";
  ::usleep(1000 + seed * 7919 % 60'000);
  EXPECT_TRUE(disk.cut_power());
  while (::read(from.number(), &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return acknowledged;
}

void check(const std::string& path, RecordNumber acknowledged) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  auto open = open_world(*disk, *random, path, options());
  ASSERT_TRUE(open) << open.error().to_string();
  Journal& journal = (*open)->journal();
  ASSERT_GE(journal.durable(), acknowledged) << "an acknowledged record is lost";
  const auto records = read_all(journal, journal.first());
  ASSERT_TRUE(records) << records.error().to_string();
  for (std::size_t i = 0; i < records->size(); ++i)
    ASSERT_EQ((*records)[i], record_text(journal.first() + i, kRecordBytes));
  ASSERT_TRUE(journal.close());
}

TEST(PowerCut, on_a_real_file_system_loses_nothing_that_was_acknowledged) {
  LoopDisk disk;
  if (!disk.is_usable()) GTEST_SKIP() << "needs root, loop devices and mkfs.ext4";
  const std::string path = disk.folder() + "/world";
  RecordNumber acknowledged = 0;
  const int cuts = wanted_cuts();
  for (int cut = 0; cut < cuts; ++cut) {
    SCOPED_TRACE("cut " + std::to_string(cut));
    acknowledged = load_and_cut(disk, path, static_cast<unsigned>(cut) + 1);
    ASSERT_TRUE(disk.unmount());
    ASSERT_TRUE(disk.mount());
    check(path, acknowledged);
    if (HasFailure()) return;
  }
  std::cout << "power cuts: " << cuts << ", " << acknowledged << " records acknowledged\n";
  EXPECT_GT(acknowledged, static_cast<RecordNumber>(cuts));
}

}  // namespace
}  // namespace holdfast::store::testing
