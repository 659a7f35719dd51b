// SPDX-License-Identifier: Apache-2.0
#include "store/place.h"

#include <gtest/gtest.h>

#include "env/posix_disk.h"
#include "env/sim_disk.h"
#include "env/testing.h"

namespace holdfast::store {
namespace {

TEST(Place, file_systems_that_cannot_keep_a_promise_are_refused) {
  env::SimDisk disk;
  EXPECT_TRUE(check_place(disk, "./w"));
  disk.set_file_system(env::file_system_from(0xef53));
  EXPECT_TRUE(check_place(disk, "./w"));
  disk.set_file_system(env::file_system_from(0x6969));
  const auto network = check_place(disk, "./w");
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code(), base::ErrorCode::kConflict);
  EXPECT_EQ(network.error().to_string(),
            "./w: is on a file system (nfs) that another machine keeps: locks and syncs may not "
            "hold there");
  disk.set_file_system(env::file_system_from(0x794c7630));
  EXPECT_FALSE(check_place(disk, "./w"));
  disk.set_file_system(env::file_system_from(0x01021994));
  EXPECT_FALSE(check_place(disk, "./w"));
}

TEST(Place, of_a_folder_that_is_not_there_yet_the_one_around_it_is_looked_at) {
  const env::testing::TemporaryFolder folder;
  const auto disk = env::posix_disk();
  const auto there = check_place(*disk, folder.path());
  const auto to_be = check_place(*disk, folder.path() + "/world");
  EXPECT_EQ(there.has_value(), to_be.has_value());  // whatever the tests run on
  EXPECT_EQ(check_place(*disk, folder.path() + "/no/world").error().code(),
            base::ErrorCode::kNotFound);
  EXPECT_EQ(check_place(*disk, "/dev/shm").error().code(), base::ErrorCode::kConflict);
}

}  // namespace
}  // namespace holdfast::store
