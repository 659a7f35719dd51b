// SPDX-License-Identifier: Apache-2.0
// Verifying finds a change to any byte of a journal.
#include <gmock/gmock.h>

#include "kernel/testing_lab.h"
#include "node/testing.h"
#include "node/verify.h"

namespace holdfast::node {
namespace {

// The journal of a world with segments that were filled, left by a death, and written again.
class DamageTest : public kernel::testing::LabTest {
 protected:
  void SetUp() override {
    begin(kernel::testing::kToKeyed);
    for (std::uint64_t i = 0; i < 12; ++i) send(i % 2 == 0 ? "a" : "b", i);
    const std::size_t count = bench().journal().size();
    {
      auto world = *sim_world_.open();
      for (std::size_t i = 0; i + 1 < count; ++i) append(world->journal(), i);
    }
    auto world = *sim_world_.open();
    append(world->journal(), count - 1);
    ASSERT_TRUE(world->journal().close());
  }
  void append(store::Journal& journal, std::size_t index) {
    const base::ByteView record = bench().journal()[index];
    ASSERT_TRUE(journal.append({&record, 1}));
    ASSERT_TRUE(journal.sync());
  }
  static std::vector<std::string> errors_of(env::SimDisk& disk,
                                            const kernel::MachineSource& machines) {
    const auto random = env::seeded_random(1);
    const auto process = env::posix_process();
    auto world = store::WorldFolder::open(disk, *random, *process, "./world");
    if (!world) return {world.error().to_string()};
    const auto journal = store::JournalFiles::open(*world);
    if (!journal) return {journal.error().to_string()};
    std::vector<std::string> errors;
    for (const base::Error& error : verify_journal(*journal, machines).errors)
      errors.push_back(error.to_string());
    return errors;
  }

  store::testing::SimWorld sim_world_;
};

TEST_F(DamageTest, every_flipped_byte_of_the_journal_is_found_and_its_segment_named) {
  const kernel::testing::Machines none{};
  EXPECT_THAT(errors_of(sim_world_.disk(), none), ::testing::IsEmpty());
  std::size_t flipped = 0;
  const std::vector<std::string> names = *sim_world_.disk().list("./world/journal");
  for (const std::string& name : names) {
    if (!store::segment_number(name)) continue;
    const std::string path = "./world/journal/" + name;
    auto file = *sim_world_.disk().open(path, env::OpenMode::kReadWrite);
    const std::uint64_t size = *file->size();
    for (std::uint64_t at = flipped % 7; at < size; at += 7, ++flipped) {
      std::uint8_t byte = 0;
      ASSERT_TRUE(env::read_all(*file, at, {&byte, 1}));
      const auto flip = [&] {
        byte ^= 0x04;
        ASSERT_TRUE(env::write_all(*file, at, {&byte, 1}));
      };
      flip();
      const auto errors = errors_of(sim_world_.disk(), none);
      ASSERT_FALSE(errors.empty()) << path << " at " << at;
      EXPECT_THAT(errors[0], ::testing::HasSubstr(path + " at ")) << at;
      flip();
    }
  }
  EXPECT_GT(flipped, 5000u);
}

}  // namespace
}  // namespace holdfast::node
