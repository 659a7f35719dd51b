// SPDX-License-Identifier: Apache-2.0
#include "env/file_system.h"

#include <gtest/gtest.h>

#include "env/posix_disk.h"

namespace holdfast::env {
namespace {

TEST(FileSystem, those_that_promise_less_are_known) {
  EXPECT_EQ(file_system_from(0x6969).kind, FileSystemKind::kNetwork);
  EXPECT_EQ(file_system_from(0x6969).name, "nfs");
  EXPECT_EQ(file_system_from(0xff534d42).kind, FileSystemKind::kNetwork);
  EXPECT_EQ(file_system_from(0xffffffffff534d42).name, "cifs") << "a sign was extended";
  EXPECT_EQ(file_system_from(0x794c7630).kind, FileSystemKind::kOverlay);
  EXPECT_EQ(file_system_from(0x01021994).kind, FileSystemKind::kMemory);
  EXPECT_EQ(file_system_from(0xef53).kind, FileSystemKind::kLocal);
  EXPECT_EQ(file_system_from(17).name, "number 17");
}

TEST(FileSystem, of_a_folder_is_what_the_system_says) {
  const auto disk = posix_disk();
  const auto proc = disk->file_system_of("/proc");
  ASSERT_TRUE(proc) << proc.error().to_string();
  EXPECT_EQ(proc->name, "number 40864");
  const auto nowhere = disk->file_system_of("/proc/no/such/folder");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code(), base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace holdfast::env
