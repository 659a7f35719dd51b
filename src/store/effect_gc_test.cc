// SPDX-License-Identifier: Apache-2.0
#include "store/effect_gc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/hex.h"
#include "store/testing_effects.h"

namespace holdfast::store::testing {
namespace {

class EffectGcTest : public ::testing::Test {
 protected:
  void SetUp() override { open_ = *open_effects(disk_, *random_); }

  BlobStore& blobs() { return *open_->blobs; }
  base::Hash put(base::ByteView bytes) {
    const base::Hash hash = *blobs().put(bytes);
    EXPECT_TRUE(blobs().sync());
    return hash;
  }
  base::Hash put(std::string_view text) { return put(base::as_bytes(text)); }
  bool is_there(const base::Hash& hash) { return blobs().get(hash).has_value(); }
  std::unique_ptr<EffectGc> begin() {
    auto gc = *EffectGc::begin(blobs(), {});
    while (*gc->learn()) continue;
    return gc;
  }
  static void finish(EffectGc& gc) {
    while (!gc.remove()->done) continue;
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(3);
  std::unique_ptr<OpenEffects> open_;
};

TEST_F(EffectGcTest, removes_what_nothing_names_and_nothing_else) {
  const base::Hash named = put("named");
  const base::Hash unnamed = put("unnamed");
  const auto done = collect_effects(blobs(), "state: " + named.to_text() + ".");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->removed, 1u);
  EXPECT_EQ(done->removed_bytes, 7u);
  EXPECT_TRUE(is_there(named));
  EXPECT_FALSE(is_there(unnamed));
}

TEST_F(EffectGcTest, a_name_is_32_bytes_or_64_digits_in_either_case_at_any_place) {
  const base::Hash as_bytes = put("as bytes");
  const base::Hash lower = put("lower case");
  const base::Hash upper = put("upper case");
  const base::Hash half = put("half of its digits");
  std::string upper_text = upper.to_text();
  std::ranges::transform(upper_text, upper_text.begin(), [](char c) { return std::toupper(c); });
  // Digits in front of them, and values of a length that no alignment fits.
  std::string roots = "x" + std::string(base::as_text(as_bytes.bytes)) + "0123456789abcdef0" +
                      lower.to_text().substr(7) + "f" + upper_text.substr(7) + "-" +
                      half.to_text().substr(7, 63);
  EXPECT_EQ(collect_effects(blobs(), roots)->removed, 1u);
  EXPECT_TRUE(is_there(as_bytes));
  EXPECT_TRUE(is_there(lower));
  EXPECT_TRUE(is_there(upper));
  EXPECT_FALSE(is_there(half));
}

TEST_F(EffectGcTest, a_name_is_found_across_the_parts_of_a_large_value) {
  const base::Hash hash = put("named");
  constexpr std::size_t kPart = 262'144;
  for (const std::size_t before : {kPart - 64, kPart - 33, kPart - 1, kPart}) {
    ASSERT_TRUE(collect_effects(blobs(), std::string(before, '.') + hash.to_text().substr(7)));
    ASSERT_TRUE(is_there(hash)) << before;
    ASSERT_TRUE(collect_effects(blobs(),
                                std::string(before, '.') + std::string(base::as_text(hash.bytes))));
    ASSERT_TRUE(is_there(hash)) << before;
  }
}

TEST_F(EffectGcTest, a_kept_blob_keeps_what_its_bytes_name) {
  const base::Hash leaf = put("leaf");
  const base::Hash list = put("list: " + leaf.to_text());
  const base::Hash unused_leaf = put("another leaf");
  const base::Hash unused_list = put("another list: " + unused_leaf.to_text());
  EXPECT_EQ(collect_effects(blobs(), list.to_text())->removed, 2u);
  EXPECT_TRUE(is_there(leaf));
  EXPECT_TRUE(is_there(list));
  EXPECT_FALSE(is_there(unused_list));
}

TEST_F(EffectGcTest, a_kept_blob_keeps_its_edges_and_what_it_was_put_with) {
  const base::Hash ref = put("what the edge names");
  const base::Hash blob = put("a blob that names nothing by itself");
  const base::Hash edge = put(edge_of(blob, {ref}));
  const base::Hash other = put("another one");
  const base::Hash other_edge = put(edge_of(other, {ref}));
  EXPECT_EQ(collect_effects(blobs(), blob.to_text())->removed, 2u);
  EXPECT_TRUE(is_there(ref));
  EXPECT_TRUE(is_there(edge));
  EXPECT_FALSE(is_there(other));
  EXPECT_FALSE(is_there(other_edge));
}

TEST_F(EffectGcTest, a_kept_edge_keeps_its_blob) {
  const base::Hash blob = put("a blob");
  const base::Hash edge = put(edge_of(blob, {}));
  EXPECT_EQ(collect_effects(blobs(), edge.to_text())->removed, 0u);
  EXPECT_TRUE(is_there(blob));
}

TEST_F(EffectGcTest, bytes_that_look_like_an_edge_are_just_bytes) {
  for (const base::ByteView bytes :
       {base::as_bytes("\xd9\xd9\xf7\xa2\x64refs"), base::as_bytes("\xd9\xd9\xf7\xa2\x64refs\x9f")})
    put(bytes);
  EXPECT_EQ(collect_effects(blobs(), "")->removed, 2u);
}

TEST_F(EffectGcTest, what_is_put_or_put_again_meanwhile_stays) {
  const base::Hash old = put("old");
  const base::Hash again = put("again");
  auto gc = begin();
  const base::Hash fresh = put("fresh");
  put("again");
  finish(*gc);
  EXPECT_FALSE(is_there(old));
  EXPECT_TRUE(is_there(again));
  EXPECT_TRUE(is_there(fresh));
  // The next one does not know of it any more.
  EXPECT_EQ(collect_effects(blobs(), "")->removed, 2u);
}

TEST_F(EffectGcTest, what_is_pinned_stays_with_all_that_it_names) {
  const base::Hash leaf = put("leaf");
  const base::Hash pinned[] = {put("list: " + leaf.to_text())};
  EXPECT_EQ(collect_effects(blobs(), "", pinned)->removed, 0u);
  EXPECT_TRUE(is_there(leaf));
  EXPECT_EQ(collect_effects(blobs(), "")->removed, 2u);
}

TEST_F(EffectGcTest, chains_in_either_direction_fit_into_bounded_memory) {
  // Each names the one before, and has an edge that names the one behind it.
  constexpr std::size_t kLength = 300;
  std::vector<base::Hash> chain;
  std::string before = "the first";
  for (std::size_t i = 0; i < kLength; ++i) {
    chain.push_back(put(before));
    before = "the one behind " + chain.back().to_text();
  }
  for (std::size_t i = 0; i + 1 < kLength; ++i) put(edge_of(chain[i], {chain[i + 1]}));
  for (std::size_t i = 0; i < 20; ++i) put("unused " + std::to_string(i));
  auto gc = *EffectGc::begin(blobs(), {}, 3);
  while (*gc->learn()) continue;
  std::string roots;
  for (std::size_t i = 0; i < kLength; i += 10) roots += chain[i].to_text();
  ASSERT_TRUE(keep_named(*gc, roots));
  GcProgress progress;
  while (!progress.done) progress = *gc->remove();
  EXPECT_EQ(progress.removed, 20u);
  EXPECT_EQ(progress.marked, 2 * kLength - 1);
}

TEST_F(EffectGcTest, when_a_blob_is_damaged_nothing_is_removed) {
  const base::Hash damaged = put("damaged");
  const base::Hash unused = put("unused");
  ASSERT_TRUE(blobs().database().run("UPDATE blobs SET bytes = 'x' WHERE id = 1"));
  const auto done = collect_effects(blobs(), "");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_EQ(done.error().where(), damaged.to_text());
  EXPECT_TRUE(is_there(unused));
}

TEST_F(EffectGcTest, the_next_one_puts_an_end_to_the_one_before) {
  const base::Hash hash = put("a blob");
  auto first = begin();
  auto second = begin();
  const auto refused = first->remove();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kConflict);
  ASSERT_TRUE(keep_named(*second, hash.to_text()));
  finish(*second);
  EXPECT_TRUE(is_there(hash));
}

TEST_F(EffectGcTest, a_file_of_thousands_of_blobs_is_collected_in_pieces) {
  std::string roots;
  for (std::size_t i = 0; i < 6000; ++i) {
    const base::Hash hash = *blobs().put(base::as_bytes("blob " + std::to_string(i)));
    if (i % 3 == 0) roots += hash.to_text() + "\n";
  }
  const auto done = collect_effects(blobs(), roots);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->removed, 4000u);
  EXPECT_EQ(*blobs().count(), 2000u);
}

}  // namespace
}  // namespace holdfast::store::testing
