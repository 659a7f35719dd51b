// SPDX-License-Identifier: Apache-2.0
// Power cuts and failing calls under a collection of the blobs that workflows put: what is named
// stays, and the next collection removes what the first one did not.
#include <iostream>

#include "env/crash.h"
#include "store/testing_effects.h"
#include "store/testing_faults.h"

namespace holdfast::store::testing {
namespace {

constexpr std::size_t kBlobs = 40;

std::string text_of(std::size_t i) {
  return "blob " + std::to_string(i) + std::string(i * 97, '.');
}

// Every third is named by the world; every sixth names the one behind it.
struct Story {
  std::vector<std::string> texts;
  std::string roots;
  std::vector<base::Hash> live;
  std::size_t garbage = 0;

  Story() {
    for (std::size_t i = 0; i < kBlobs; ++i) {
      texts.push_back(text_of(i));
      if (i % 6 == 0) texts.back() += base::sha256(base::as_bytes(text_of(i + 1))).to_text();
      const base::Hash hash = base::sha256(base::as_bytes(texts.back()));
      const bool is_live = i % 3 == 0 || i % 6 == 1;
      if (i % 3 == 0) roots += hash.to_text();
      if (is_live) live.push_back(hash);
      garbage += is_live ? 0 : 1;
    }
  }

  base::Result<void> put_all(BlobStore& blobs) const {
    for (const std::string& text : texts) TRY(blobs.put(base::as_bytes(text)));
    return blobs.sync();
  }

  // Opens what is left, looks for what is named, and collects.
  void check(env::SimDisk& disk) const {
    const auto random = env::seeded_random(5);
    auto open = open_effects(disk, *random);
    ASSERT_TRUE(open) << open.error().to_string();
    expect_live(*(*open)->blobs);
    const auto done = collect_effects(*(*open)->blobs, roots);
    ASSERT_TRUE(done) << done.error().to_string();
    expect_live(*(*open)->blobs);
    EXPECT_EQ(*(*open)->blobs->count(), live.size());
  }

 private:
  void expect_live(BlobStore& blobs) const {
    for (const base::Hash& hash : live) ASSERT_TRUE(blobs.get(hash)) << hash.to_text();
  }
};

TEST(EffectCrash, what_is_named_survives_every_power_cut_of_a_collection) {
  const Story story;
  ASSERT_EQ(story.live.size() + story.garbage, kBlobs);
  env::SimDisk disk;
  const auto random = env::seeded_random(4);
  std::size_t put_at = 0;
  {
    auto open = *open_effects(disk, *random);
    ASSERT_TRUE(story.put_all(*open->blobs));
    put_at = disk.operations().size();
    ASSERT_EQ(collect_effects(*open->blobs, story.roots)->removed, story.garbage);
  }
  std::uint64_t images = 0;
  std::uint64_t turn = 0;
  env::for_each_crash(disk.operations(), [&](const env::Crash& crash) {
    if (crash.at < put_at || turn++ % 4 != 0 || ::testing::Test::HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    story.check(after);
  });
  std::cout << "power cuts of a collection: " << images << " images\n";
  EXPECT_GT(images, 50u);
}

class EffectFaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(EffectFaultSweep, what_is_named_survives_every_failing_call_of_a_collection) {
  const Story story;
  const std::uint64_t calls = for_each_failing_call(GetParam(), [&](MortalDisk& mortal) {
    const auto random = env::seeded_random(4);
    bool is_put = false;
    for (int openings = 0; openings < 4; ++openings) {
      auto open = open_effects(mortal.disk(), *random);
      if (!open) continue;
      is_put = is_put || story.put_all(*(*open)->blobs).has_value();
      if (is_put) static_cast<void>(collect_effects(*(*open)->blobs, story.roots).has_value());
      // Closing a database would tidy up; a process that dies does not.
      mortal.die();
    }
    ASSERT_TRUE(is_put);
    env::SimDisk after(after_worst_cut(mortal.disk()));
    story.check(after);
  });
  std::cout << "fault sweep of a collection: " << calls << " calls\n";
  EXPECT_GT(calls, 30u);
}

INSTANTIATE_TEST_SUITE_P(Each, EffectFaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

}  // namespace
}  // namespace holdfast::store::testing
