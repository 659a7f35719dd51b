// SPDX-License-Identifier: Apache-2.0
#include "codec/pen.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/cbor_writer.h"

namespace holdfast::codec {
namespace {

// Items of all sizes, so that pieces end before, in and behind each of them.
template <class Out>
void write(Out& out, std::size_t size) {
  const std::string text(size, 't');
  write_list_head(out, 3);
  write_text(out, text);
  write_nat(out, size * 1'000'003);
  write_bytes(out, base::as_bytes(text));
  out.append(base::as_bytes(text));
  write_null(out);
  write_bool(out, true);
  out.append({});
}

TEST(Pen, writes_what_goes_to_a_buffer_otherwise) {
  Buffer expected;
  Buffer written;
  expected.append(base::as_bytes("before"));
  written.append(base::as_bytes("before"));
  Pen pen(written);
  for (std::size_t size = 0; size < 700; ++size) {
    write(expected, size);
    write(pen, size);
    if (size % 7 != 0) continue;
    pen.put_down();
    ASSERT_EQ(written.to_bytes(), expected.to_bytes()) << size;
    pen.put_down();
    if (size % 2 != 0) continue;
    // Now others may write.
    expected.push(1);
    written.push(1);
  }
  pen.put_down();
  EXPECT_EQ(written.to_bytes(), expected.to_bytes());
}

TEST(Pen, is_put_down_when_it_is_gone) {
  Buffer written;
  Pen(written).push(7);
  EXPECT_EQ(written.to_bytes(), base::Bytes{7});
  { const Pen unused(written); }
  EXPECT_EQ(written.to_bytes(), base::Bytes{7});
}

}  // namespace
}  // namespace holdfast::codec
