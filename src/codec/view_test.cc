// SPDX-License-Identifier: Apache-2.0
#include "codec/view.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;

TEST(View, tells_the_kind_of_an_item) {
  const std::pair<std::string_view, ViewKind> cases[] = {{"f6", ViewKind::kNull},
                                                         {"f5", ViewKind::kBool},
                                                         {"00", ViewKind::kInt},
                                                         {"20", ViewKind::kInt},
                                                         {"f93c00", ViewKind::kFloat},
                                                         {"fa47c35000", ViewKind::kFloat},
                                                         {"fb3ff199999999999a", ViewKind::kFloat},
                                                         {"40", ViewKind::kBytes},
                                                         {"60", ViewKind::kText},
                                                         {"80", ViewKind::kList},
                                                         {"a0", ViewKind::kMap},
                                                         {"c001", ViewKind::kOther},
                                                         {"f7", ViewKind::kOther},
                                                         {"f8ff", ViewKind::kOther},
                                                         {"d9d9f701", ViewKind::kInt}};
  for (const auto& [hex, kind] : cases) {
    const base::Bytes bytes = bytes_of(hex);
    EXPECT_EQ(View::of(bytes).kind(), kind) << hex;
    EXPECT_EQ(View::of(bytes).is_null(), kind == ViewKind::kNull) << hex;
  }
}

TEST(View, gives_a_scalar_only_as_what_it_is) {
  const base::Bytes negative = bytes_of("3b7fffffffffffffff");
  EXPECT_EQ(View::of(negative).integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(View::of(negative).nat(), std::nullopt);
  EXPECT_EQ(View::of(negative).real(), -0x1p63);
  const base::Bytes large = bytes_of("1b8000000000000000");
  EXPECT_EQ(View::of(large).integer(), std::nullopt);
  EXPECT_EQ(View::of(large).nat(), std::uint64_t{1} << 63);
  const base::Bytes text = bytes_of("626162");
  EXPECT_EQ(View::of(text).text(), "ab");
  EXPECT_EQ(View::of(text).bytes(), std::nullopt);
  EXPECT_EQ(View::of(text).nat(), std::nullopt);
  EXPECT_EQ(View::of(text).real(), std::nullopt);
  EXPECT_EQ(View::of(text).boolean(), std::nullopt);
  EXPECT_EQ(View::of(text).size(), 0u);
  const base::Bytes raw = bytes_of("420001");
  EXPECT_TRUE(base::equal(*View::of(raw).bytes(), bytes_of("0001")));
  EXPECT_EQ(View::of(raw).text(), std::nullopt);
  const base::Bytes yes = bytes_of("f5");
  EXPECT_EQ(View::of(yes).boolean(), true);
  EXPECT_EQ(View::of(bytes_of("f4")).boolean(), false);
  EXPECT_EQ(View::of(bytes_of("f93e00")).real(), 1.5);
  EXPECT_EQ(View::of(bytes_of("fa47c35000")).real(), 100000.0);
  EXPECT_EQ(View::of(bytes_of("fb3ff199999999999a")).real(), 1.1);
}

TEST(View, walks_lists_and_maps) {
  const base::Bytes bytes = bytes_of("d9d9f7a361618301820203046163a062626201");
  const View root = View::of(bytes);
  ASSERT_EQ(root.size(), 3u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : root.entries()) keys.emplace_back(*key.text());
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "c", "bb"}));
}

TEST(View, finds_a_value_by_its_key) {
  const base::Bytes bytes = bytes_of("a361618301820203046162f562636301");
  const View root = View::of(bytes);
  EXPECT_EQ(root.find("cc")->nat(), 1u);
  EXPECT_EQ(root.find("b")->boolean(), true);
  EXPECT_FALSE(root.find("c"));
  EXPECT_FALSE(root.find(""));
  std::vector<std::uint64_t> sizes;
  for (const View element : root.find("a")->elements()) sizes.push_back(element.encoded().size());
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1, 3, 1}));
  EXPECT_FALSE(root.find("a")->find("x"));
}

TEST(View, has_no_entries_where_there_are_none) {
  const base::Bytes bytes = bytes_of("8280a0");
  for (const View element : View::of(bytes).elements()) {
    for (const View inner : element.elements()) ADD_FAILURE() << inner.size();
    for (const auto& [key, value] : element.entries()) ADD_FAILURE() << key.size() + value.size();
  }
  for (const auto& [key, value] : View::of(bytes).entries()) ADD_FAILURE() << key.size();
}

TEST(View, encoded_is_the_item_alone) {
  const base::Bytes bytes = bytes_of("83a16161820102c1fb3ff199999999999af6");
  std::vector<std::string> parts;
  for (const View element : View::of(bytes).elements()) {
    parts.push_back(base::to_hex(element.encoded()));
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"a16161820102", "c1fb3ff199999999999a", "f6"}));
}

TEST(ViewDeathTest, bytes_that_are_not_canonical_stop_the_process) {
  for (const std::string_view hex : {"", "1c", "9f01ff", "4201", "6261", "8201"}) {
    const base::Bytes bytes = bytes_of(hex);
    EXPECT_DEATH(View::of(bytes).encoded(), "CHECK|check") << hex;
  }
}

}  // namespace
}  // namespace holdfast::codec
