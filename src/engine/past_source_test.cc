// SPDX-License-Identifier: Apache-2.0
#include "engine/past_source.h"

#include <gtest/gtest.h>

#include <string>

#include "env/posix_disk.h"
#include "env/testing.h"
#include "native/machines.h"

namespace holdfast::engine {
namespace {

class PinnedPastTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node::LocalWorldOptions options;
    options.journal.segment_bytes = 6 * 4096;
    options.journal.held_segments = 2;
    options.any_file_system = true;
    auto opened = node::LocalWorld::open(*disk_, *random_, *process_, folder_.path() + "/world",
                                         machines_, options);
    ASSERT_TRUE(opened) << opened.error().to_string();
    world_ = std::move(*opened);
  }
  // What stands in the records does not matter.
  void write_and_trim(int records) {
    const std::string text(3000, 'x');
    const std::vector<base::ByteView> batch = {base::as_bytes(text)};
    for (int i = 0; i < records; ++i) {
      ASSERT_TRUE(world_->journal().append(batch));
      ASSERT_TRUE(world_->journal().sync());
    }
    ASSERT_TRUE(world_->journal().trim(world_->journal().durable()));
  }

  const env::testing::TemporaryFolder folder_;
  const std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  const std::unique_ptr<env::Random> random_ = env::posix_random();
  const std::unique_ptr<env::Process> process_ = env::posix_process();
  const std::vector<Module> modules_;
  const native::Machines machines_{modules_};
  std::unique_ptr<node::LocalWorld> world_;
};

TEST_F(PinnedPastTest, what_was_there_at_first_is_there_until_the_end) {
  write_and_trim(1);
  PinnedPast pinned(*world_);
  write_and_trim(9);
  ASSERT_GT(world_->journal().first(), 1u);
  const auto source = pinned.source(1, PinnedPast::kAll);
  ASSERT_TRUE(source) << source.error().to_string();
  EXPECT_EQ(source->first, 1u);
  EXPECT_EQ(source->last, 1u);
  EXPECT_TRUE(pinned.judge(node::record_in(*source, 1)));
}

TEST_F(PinnedPastTest, what_was_read_too_slowly_counts_for_nothing_and_other_errors_stay) {
  PinnedPast pinned(*world_);
  const auto read = [&](base::ErrorCode code) {
    return pinned.judge(base::Result<int>(base::Error(code, "why"))).error().code();
  };
  write_and_trim(9);
  EXPECT_TRUE(pinned.judge(base::Result<int>(1)));
  EXPECT_EQ(read(base::ErrorCode::kNotFound), base::ErrorCode::kNotFound);
  write_and_trim(40);
  const auto lost = pinned.judge(base::Result<int>(1));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_EQ(read(base::ErrorCode::kNotFound), base::ErrorCode::kTooLarge);
  EXPECT_EQ(read(base::ErrorCode::kEnded), base::ErrorCode::kEnded);
}

}  // namespace
}  // namespace holdfast::engine
