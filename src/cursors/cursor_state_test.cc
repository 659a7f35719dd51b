// SPDX-License-Identifier: Apache-2.0
#include "cursors/cursor_state.h"

#include <gtest/gtest.h>

namespace holdfast::cursors {
namespace {

CursorState some_state() {
  CursorState state;
  state.next = {4711, 3};
  state.tries = 2;
  state.reason = "no such table";
  state.quarantine.push_back({{17, 0}, "bad", 99, true, {0xa1, 0x61, 'n', 0x07}});
  return state;
}

TEST(CursorState, what_is_written_is_read_again) {
  const CursorState state = some_state();
  const auto read = decode_cursor(encode(state));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->next, state.next);
  EXPECT_EQ(read->tries, state.tries);
  EXPECT_EQ(read->reason, state.reason);
  ASSERT_EQ(read->quarantine.size(), 1u);
  EXPECT_EQ(read->quarantine[0].id, state.quarantine[0].id);
  EXPECT_EQ(read->quarantine[0].reason, "bad");
  EXPECT_EQ(read->quarantine[0].time_ns, 99u);
  EXPECT_TRUE(read->quarantine[0].is_replayed);
  EXPECT_EQ(read->quarantine[0].document, state.quarantine[0].document);
}

TEST(CursorState, what_was_cut_off_is_refused) {
  const base::Bytes bytes = encode(some_state());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_cursor(base::ByteView(bytes).first(size))) << size;
}

// Whatever they are: an answer, and no more than that.
TEST(CursorState, bytes_that_were_changed_are_read_or_refused) {
  const base::Bytes bytes = encode(some_state());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 3, 5, 7}) {
      base::Bytes changed = bytes;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ (1 << bit));
      const auto read = decode_cursor(changed);
      if (read) {
        EXPECT_LE(read->quarantine.size(), bytes.size());
      }
    }
  }
}

TEST(EventId, is_read_from_its_text) {
  EXPECT_EQ(EventId::parse("4711.3"), (EventId{4711, 3}));
  EXPECT_EQ((EventId{4711, 3}).to_text(), "4711.3");
  for (const char* wrong :
       {"", ".", "1", "1.", ".1", "1.x", "x.1", "1.2.3", "-1.0", "1.4294967296"})
    EXPECT_FALSE(EventId::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace holdfast::cursors
