// SPDX-License-Identifier: Apache-2.0
#include "store/file_journal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/crash.h"
#include "store/journal_format.h"
#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

TEST(FileJournal, failed_sync_ends_it_for_good) {
  SimWorld world;
  auto open = *world.open();
  Journal& journal = open->journal();
  ASSERT_TRUE(commit_batch(journal, 1));
  ASSERT_TRUE(append_batch(journal, 1));
  world.disk().fail_call(0, env::DiskFault::kIoError);
  const auto failed = journal.sync();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("nothing more will be acknowledged"), std::string::npos);
  const std::uint64_t calls = world.disk().changing_calls();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(journal.sync());
    EXPECT_FALSE(append_batch(journal, 1));
    EXPECT_FALSE(journal.mark());
    EXPECT_FALSE(journal.trim(1));
    EXPECT_FALSE(journal.close());
  }
  EXPECT_EQ(world.disk().changing_calls(), calls) << "it must not touch the disk again";
  EXPECT_EQ(journal.durable(), 1u);
  EXPECT_EQ(read_all(journal)->size(), 1u) << "what was durable can still be read";
}

TEST(FileJournal, one_batch_is_one_write_and_one_sync) {
  SimWorld world;
  auto open = *world.open();
  const std::uint64_t before = world.disk().changing_calls();
  ASSERT_TRUE(commit_batch(open->journal(), 200, 10));
  EXPECT_EQ(world.disk().changing_calls() - before, 2u);
}

TEST(FileJournal, full_disk_leaves_the_reserve_to_those_who_may_use_it) {
  SimWorld world;
  auto open = *world.open();
  Journal& journal = open->journal();
  ASSERT_TRUE(journal.prepare());
  ASSERT_TRUE(journal.prepare());
  world.disk().set_capacity(0);
  RecordNumber normal = 0;
  while (commit_batch(journal, 1, 3000)) ++normal;
  EXPECT_EQ(normal, 8u) << "the first segment and one spare";
  const auto refused = append_batch(journal, 1, 3000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(read_all(journal)->size(), normal);

  RecordNumber reserved = 0;
  while (append_batch(journal, 1, 3000, Room::kReserve)) {
    ASSERT_TRUE(journal.sync());
    ++reserved;
  }
  EXPECT_EQ(reserved, 4u);

  world.disk().set_capacity(std::nullopt);
  EXPECT_TRUE(commit_batch(journal, 1, 3000)) << "space is there again";
  EXPECT_EQ(journal.durable(), normal + reserved + 1);
}

TEST(FileJournal, trimmed_segments_are_used_again) {
  SimWorld world;
  auto open = *world.open();
  Journal& journal = open->journal();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(commit_batch(journal, 1, 3000));
    ASSERT_TRUE(journal.trim(journal.durable()));
    ASSERT_TRUE(journal.prepare());
  }
  EXPECT_LE(world.disk().now().names.size(), 8u);
  std::uint64_t highest_file = 0;
  for (const auto& [name, file] : world.disk().now().names)
    highest_file = std::max(highest_file, file);
  EXPECT_LT(highest_file, 12u) << "files were made anew";
}

// Seals are removed up to first_on_disk, so it must not be ahead of the segments that are there.
TEST(FileJournal, a_segment_whose_removal_failed_may_still_be_there) {
  int removals = 0;
  for (std::uint64_t call = 0; call < 6; ++call) {
    SimWorld world;
    auto open = *world.open();
    Journal& journal = open->journal();
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(commit_batch(journal, 1, 3000));
    world.disk().fail_call(call, env::DiskFault::kIoError);
    if (journal.trim(journal.durable())) continue;
    ++removals;
    const RecordNumber told = journal.first_on_disk();
    const auto& recorded = world.disk().operations();
    env::Crash crash{.at = recorded.size()};
    for (const std::size_t each : env::pending_operations(recorded)) crash.lost.insert(each);
    SimWorld after(env::after_crash(world.disk().start(), recorded, crash));
    const auto again = after.open();
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_GE((*again)->journal().first(), told) << "call " << call;
  }
  EXPECT_GT(removals, 2);
}

TEST(FileJournal, no_more_is_held_for_a_pin_than_may_be) {
  SimWorld world;
  JournalOptions options = small_segments();
  options.held_segments = 3;
  auto open = *world.open(options);
  Journal& journal = open->journal();
  const auto pin = journal.pin(0);
  RecordNumber held = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(commit_batch(journal, 1, 3000));
    ASSERT_TRUE(journal.trim(journal.durable()));
    ASSERT_TRUE(journal.prepare());
    if (pin->holds()) held = journal.durable();
  }
  EXPECT_GT(held, 10u);
  EXPECT_LT(held, 30u);
  EXPECT_EQ(journal.read(pin->first()).error().code(), base::ErrorCode::kNotFound);
  EXPECT_LE(world.disk().now().names.size(), 8u) << "one that is lost holds nothing";
}

TEST(FileJournal, append_needs_no_new_blocks_in_a_prepared_segment) {
  SimWorld world;
  auto open = *world.open();
  world.disk().set_capacity(0);
  EXPECT_TRUE(commit_batch(open->journal(), 1, 3000));
}

// With segments that are large enough for landmarks, before and after opening again.
TEST(FileJournal, any_record_is_found_without_reading_its_whole_segment) {
  SimWorld world;
  const JournalOptions large = {.segment_bytes = std::uint64_t{4} << 20};
  for (const bool is_first : {true, false}) {
    auto open = *world.open(large);
    Journal& journal = open->journal();
    for (int i = 0; is_first && i < 60; ++i) ASSERT_TRUE(commit_batch(journal, 10, 5000));
    for (const RecordNumber number : {600u, 1u, 599u, 300u, 299u, 301u, 50u, 51u, 60u, 61u}) {
      auto reader = journal.read(number);
      const auto record = (*reader)->next();
      ASSERT_TRUE(record) << record.error().to_string();
      EXPECT_EQ((*record)->number, number);
      EXPECT_EQ(base::as_text((*record)->bytes), record_text(number, 5000));
    }
    ASSERT_TRUE(journal.close());
  }
}

TEST(FileJournal, process_that_finds_the_world_taken_is_told_by_whom) {
  PosixWorld world;
  auto open = *world.open();
  const pid_t child = ::fork();
  if (child == 0) {
    auto second = world.open();
    const std::string holder = "process " + std::to_string(::getppid()) + " on host ";
    const bool is_told = !second && second.error().code() == base::ErrorCode::kConflict &&
                         second.error().message().find(holder) != std::string::npos;
    ::_exit(is_told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A program that we start must not keep the world locked when we are gone.
TEST(FileJournal, lock_is_not_inherited_by_programs) {
  PosixWorld world;
  auto open = *world.open();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "600", nullptr);
    ::_exit(1);
  }
  bool is_running = false;
  for (int i = 0; i < 12'000 && !is_running; ++i) {
    char name[64] = {};
    std::FILE* file = std::fopen(("/proc/" + std::to_string(child) + "/comm").c_str(), "re");
    if (file != nullptr) {
      is_running = std::fgets(name, sizeof name, file) != nullptr && std::string(name) == "sleep\n";
      std::fclose(file);
    }
    ::usleep(10'000);
  }
  ASSERT_TRUE(is_running);
  open.reset();
  EXPECT_TRUE(world.open());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace holdfast::store::testing
