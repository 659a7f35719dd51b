// SPDX-License-Identifier: Apache-2.0
#include "gateway/cursor.h"

#include <gtest/gtest.h>

namespace holdfast::gateway {
namespace {

constexpr std::uint32_t kSecond = 0x5f3a90c1;
constexpr std::uint32_t kThird = 0x0000000a;

// Restored up to record 100, and, when that life had come to 150, from a backup of record 120.
std::vector<RestoredLife> lives() {
  return {{.life = kSecond, .after_record = 100}, {.life = kThird, .after_record = 120}};
}

bool is_good(const char* text, std::uint64_t last = 200, CursorOf of = CursorOf::kRecord) {
  const auto cursor = parse_cursor(text);
  return cursor && !refuse_cursor(*cursor, of, lives(), last);
}

TEST(CursorTest, ids_begin_with_the_life_of_a_restored_world) {
  EXPECT_EQ(life_prefix({}), "");
  EXPECT_EQ(life_prefix(lives()), "0000000a.");
}

TEST(CursorTest, what_is_no_id_is_not_read) {
  for (const char* text : {"", "x", "-1", "1.2", "5f3a90c1.", ".7", "5f3a90c1.7x", "00000000.7",
                           "5f3a90c1.7.7", "99999999999999999999", "5F3A90C1 .7", "5f3a90c.7"})
    EXPECT_FALSE(parse_cursor(text)) << text;
  const auto cursor = parse_cursor("5f3a90c1.7");
  ASSERT_TRUE(cursor);
  EXPECT_EQ(cursor->life, kSecond);
  EXPECT_EQ(cursor->number, 7u);
}

TEST(CursorTest, an_id_is_good_as_far_as_its_life_and_the_present_one_share_records) {
  EXPECT_TRUE(is_good("100"));
  EXPECT_FALSE(is_good("101")) << "of the first life, which the backup of record 100 ends";
  EXPECT_TRUE(is_good("5f3a90c1.120"));
  EXPECT_FALSE(is_good("5f3a90c1.121"));
  EXPECT_TRUE(is_good("0000000a.121"));
  EXPECT_TRUE(is_good("0000000a.200"));
  EXPECT_FALSE(is_good("0000000a.201")) << "beyond the end";
  EXPECT_FALSE(is_good("11111111.1")) << "of a life that this world never had";
}

TEST(CursorTest, a_sequence_is_judged_by_its_record) {
  EXPECT_TRUE(is_good(std::to_string((100 << 16) + 5).c_str(), 200, CursorOf::kSequence));
  EXPECT_FALSE(is_good(std::to_string(101 << 16).c_str(), 200, CursorOf::kSequence));
}

}  // namespace
}  // namespace holdfast::gateway
