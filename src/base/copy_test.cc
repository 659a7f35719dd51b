// SPDX-License-Identifier: Apache-2.0
#include "base/copy.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace holdfast::base {
namespace {

TEST(Copy, copies_so_many_bytes_and_no_other) {
  Bytes from(100);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i + 1);
  for (std::size_t size = 0; size <= from.size(); ++size) {
    const Bytes exact(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(size));
    Bytes to(size + 2, 0xee);
    copy_bytes(to.data() + 1, exact.data(), size);
    EXPECT_EQ(to.front(), 0xee) << size;
    EXPECT_EQ(to.back(), 0xee) << size;
    EXPECT_TRUE(equal(ByteView(to).subspan(1, size), exact)) << size;
  }
}

TEST(Copy, nothing_comes_from_nowhere) { copy_bytes(nullptr, nullptr, 0); }

}  // namespace
}  // namespace holdfast::base
