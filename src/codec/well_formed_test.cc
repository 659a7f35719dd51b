// SPDX-License-Identifier: Apache-2.0
#include "codec/well_formed.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "codec/cbor_writer.h"
#include "codec/limits.h"

namespace holdfast::codec {
namespace {

bool accepts(std::string_view hex) { return is_well_formed(base::from_hex(hex).value()); }

TEST(WellFormed, one_whole_item_with_its_tag_is_accepted) {
  for (const char* item : {"00", "1bffffffffffffffff", "20", "40", "4161", "6161", "80", "820102",
                           "a0", "a1616101", "c000", "f4", "f6", "f97e00", "fb3ff0000000000000"}) {
    EXPECT_TRUE(accepts(std::string("d9d9f7") + item)) << item;
  }
}

TEST(WellFormed, what_is_cut_off_or_goes_on_is_refused) {
  for (const char* item : {"", "18", "1b00000000", "41", "6261", "81", "8201", "a1", "a101", "c0",
                           "f9", "0000", "8000", "9fff", "5fff", "ff", "1c", "fc"}) {
    EXPECT_FALSE(accepts(std::string("d9d9f7") + item)) << item;
  }
}

TEST(WellFormed, an_item_without_its_tag_is_refused) {
  for (const char* bytes : {"", "00", "820102", "d9d9", "d9d9f600"}) EXPECT_FALSE(accepts(bytes));
}

TEST(WellFormed, a_number_of_items_that_nobody_can_have_written_is_refused) {
  for (const char* item : {"9bffffffffffffffff", "bbffffffffffffffff00", "bb800000000000000100",
                           "5bffffffffffffffff", "7b7fffffffffffffff"}) {
    EXPECT_FALSE(accepts(std::string("d9d9f7") + item)) << item;
  }
}

TEST(WellFormed, the_limits_of_one_value_do_not_hold) {
  Buffer out;
  out.append(kSelfDescribe, sizeof kSelfDescribe);
  for (std::size_t i = 0; i < 3 * kMaxDepth; ++i) write_list_head(out, 1);
  const base::Bytes large(kMaxValueBytes);
  write_bytes(out, large);
  EXPECT_TRUE(is_well_formed(out.view()));
}

}  // namespace
}  // namespace holdfast::codec
