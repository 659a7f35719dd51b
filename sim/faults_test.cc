// SPDX-License-Identifier: Apache-2.0
#include "sim/faults.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

const base::Error kIo(base::ErrorCode::kIo, "the disk is gone");
const base::Error kFull(base::ErrorCode::kUnavailable, "no space");

class FaultsTest : public ::testing::Test {
 protected:
  // It may fail.
  void call() {
    static_cast<void>(disk_.make_directory("./" + std::to_string(++made_)).has_value());
  }
  env::SimDisk disk_;
  Faults faults_;
  int made_ = 0;
};

TEST_F(FaultsTest, without_a_fault_no_end_is_excused) {
  faults_.begin_life(disk_);
  call();
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
  EXPECT_FALSE(faults_.excuse_no_beginning(kFull, disk_));
}

TEST_F(FaultsTest, a_call_excuses_when_it_has_failed_and_in_no_later_life) {
  faults_.begin_life(disk_);
  faults_.fail_call(disk_, 1, env::DiskFault::kIoError);
  call();
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_)) << "it is still to come";
  call();
  EXPECT_TRUE(faults_.excuse_end(kIo, disk_));
  EXPECT_FALSE(faults_.excuse_no_beginning(kFull, disk_));
  EXPECT_FALSE(faults_.excuse_end({base::ErrorCode::kCorrupt, "what is this"}, disk_));
  faults_.begin_life(disk_);
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
}

TEST_F(FaultsTest, a_call_that_is_still_to_fail_is_so_for_the_next_life_too) {
  faults_.begin_life(disk_);
  faults_.fail_call(disk_, 0, env::DiskFault::kInterrupted);
  faults_.begin_life(disk_);
  call();
  EXPECT_TRUE(faults_.excuse_end(kIo, disk_));
}

TEST_F(FaultsTest, one_that_has_failed_excuses_also_when_another_one_is_to_come) {
  faults_.begin_life(disk_);
  faults_.fail_call(disk_, 0, env::DiskFault::kIoError);
  call();
  faults_.fail_call(disk_, 5, env::DiskFault::kShort);
  EXPECT_TRUE(faults_.excuse_end(kIo, disk_));
  faults_.begin_life(disk_);
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
}

TEST_F(FaultsTest, a_lock_that_was_removed_excuses_an_end_for_that_in_this_life) {
  const base::Error lost(base::ErrorCode::kConflict, "the lock is gone");
  faults_.begin_life(disk_);
  EXPECT_FALSE(faults_.excuse_end(lost, disk_));
  faults_.remove_lock();
  EXPECT_TRUE(faults_.excuse_end(lost, disk_));
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
  faults_.begin_life(disk_);
  EXPECT_FALSE(faults_.excuse_end(lost, disk_));
}

TEST_F(FaultsTest, a_disk_is_calm_when_it_is_not_full_and_no_call_is_to_fail) {
  faults_.begin_life(disk_);
  EXPECT_TRUE(faults_.is_calm(disk_));
  faults_.fail_call(disk_, 1, env::DiskFault::kNoSpace);
  call();
  EXPECT_FALSE(faults_.is_calm(disk_));
  call();
  EXPECT_TRUE(faults_.is_calm(disk_));
  faults_.fill(disk_, 1);
  EXPECT_FALSE(faults_.is_calm(disk_));
}

TEST_F(FaultsTest, a_short_write_excuses_nothing) {
  faults_.begin_life(disk_);
  faults_.fail_call(disk_, 0, env::DiskFault::kShort);
  call();
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
}

TEST_F(FaultsTest, a_full_disk_excuses_who_does_not_begin_and_nobody_else) {
  faults_.begin_life(disk_);
  faults_.fill(disk_, 1);
  faults_.make_room(disk_);
  EXPECT_TRUE(faults_.excuse_no_beginning(kFull, disk_));
  EXPECT_FALSE(faults_.excuse_end(kFull, disk_)) << "who has begun goes on";
  EXPECT_FALSE(faults_.excuse_end(kIo, disk_));
  faults_.begin_life(disk_);
  EXPECT_FALSE(faults_.excuse_no_beginning(kFull, disk_));
}

}  // namespace
}  // namespace holdfast::sim
