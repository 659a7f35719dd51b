// SPDX-License-Identifier: Apache-2.0
#include "node/effect_blobs.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "env/crash.h"
#include "env/process.h"
#include "env/random.h"
#include "env/sim_disk.h"

namespace holdfast::node {
namespace {

class WorldEffectBlobsTest : public ::testing::Test {
 protected:
  void open() {
    blobs_.reset();
    folder_.reset();
    folder_.emplace(store::WorldFolder::open(*disk_, *random_, *process_, "./world").take());
    blobs_ = WorldEffectBlobs::open(*folder_).take();
  }
  std::uint64_t used() const {
    std::uint64_t bytes = 0;
    for (const auto& [file, content] : disk_->now().files) bytes += content.size();
    return bytes;
  }
  bool keep(std::string_view text) { return blobs_->keep(base::as_bytes(text)).has_value(); }
  bool has(std::string_view text) {
    return blobs_->get(base::sha256(base::as_bytes(text))).has_value();
  }

  std::unique_ptr<env::SimDisk> disk_ = std::make_unique<env::SimDisk>();
  std::unique_ptr<env::Random> random_ = env::seeded_random(1);
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::optional<store::WorldFolder> folder_;
  std::unique_ptr<WorldEffectBlobs> blobs_;
};

TEST_F(WorldEffectBlobsTest, what_is_kept_survives_a_power_cut_at_once) {
  open();
  ASSERT_TRUE(keep("one"));
  const std::span<const env::DiskOperation> done = disk_->operations();
  env::Crash crash{.at = done.size()};
  for (const std::size_t pending : env::pending_operations(done)) crash.lost.insert(pending);
  auto next = std::make_unique<env::SimDisk>(env::after_crash(disk_->start(), done, crash));
  blobs_.reset();
  folder_.reset();
  disk_ = std::move(next);
  open();
  EXPECT_TRUE(has("one"));
}

TEST_F(WorldEffectBlobsTest, a_full_disk_refuses_one_and_the_next_does_not_hear_of_it) {
  open();
  ASSERT_TRUE(keep("one"));
  disk_->set_capacity(used() + 64 * 1024);
  const std::string large(1 << 20, 'x');
  const auto refused = blobs_->keep(base::as_bytes(large));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_FALSE(has(large));
  EXPECT_TRUE(keep("two")) << "what failed before was somebody else's";
  EXPECT_TRUE(has("one"));
  EXPECT_TRUE(has("two"));
}

TEST_F(WorldEffectBlobsTest, one_that_is_too_large_leaves_nothing_half_done) {
  open();
  const base::Bytes large(store::kMaxBlobBytes + 1);
  const base::ByteView both[] = {base::as_bytes("one"), large};
  const auto refused = blobs_->keep(both);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_TRUE(keep("two"));
}

}  // namespace
}  // namespace holdfast::node
