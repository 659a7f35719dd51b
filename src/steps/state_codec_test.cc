// SPDX-License-Identifier: Apache-2.0
#include "steps/state_codec.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "steps/testing.h"

namespace holdfast::steps::testing {
namespace {

constexpr char kCodecGraph[] = R"(
  split: Start -> A[]
  work*2: A -> B
  sum: B[] -> Stop
  rescue!2: StepFailed -> B
)";

constexpr char kCodecState[] = R"(
  last i9 r8 s2 c3
  deadline 45
  split running 0 r1 Start1 i1 t2 issued
  work running 0 r2 A1 i2 s1 f1 t3 rescue=1 saw3 judging:oops
  work running 1 r3 A2 i3 s2 t3 saw2 issued
  work queued A3 i4 s1 @70
  work queued A4 i5
  work buffer default c1 A1 A2
  work buffer other c3
  work waits w B for A1 i6 until 9 where who="x" where n=7
  work waits v B for A2 i7 answered B3
  work waits u B for A3 i8 timed-out
  stream 1 open 2 in 0
  stream 1 joins sum B1 B2
  stream 2 open 1 in 1
  stream 2 joins sum fired
  store a c2 5
  store b c3
)";

class StateCodec : public ::testing::Test {
 protected:
  base::Bytes written(std::string_view text) {
    codec::Buffer out;
    write_state(out, table_.parse().state(text));
    return out.to_bytes();
  }

  Table table_{kCodecGraph};
};

TEST_F(StateCodec, a_state_is_read_as_it_was_written) {
  const base::Bytes bytes = written(kCodecState);
  const auto state = read_state(bytes, table_.graph());
  ASSERT_TRUE(state);
  EXPECT_EQ(table_.print().state(*state), trimmed(kCodecState));
  codec::Buffer again;
  write_state(again, *state);
  EXPECT_EQ(again.to_bytes(), bytes);
}

TEST_F(StateCodec, that_a_body_has_published_is_read_as_it_was_written) {
  const char* const text = R"(
    last i2 r1
    work running 0 r1 A1 i1 f1 t3 published issued
    work queued A4 i2 published
    work waits v B for A1 i1 published answered B3)";
  const base::Bytes bytes = written(text);
  const auto state = read_state(bytes, table_.graph());
  ASSERT_TRUE(state);
  EXPECT_EQ(table_.print().state(*state), trimmed(text));
}

TEST_F(StateCodec, what_waits_in_slots_is_read_as_it_was_written) {
  Table table("begin: Start -> A | B \n pack: A & B -> Stop \n rescue!1: StepFailed -> A");
  const char* const text = R"(
    last s1
    pack holds A1
    pack holds B2 s1 rescue=1
    stream 1 open 1 in 0)";
  codec::Buffer out;
  write_state(out, table.parse().state(text));
  const base::Bytes bytes = out.to_bytes();
  const auto state = read_state(bytes, table.graph());
  ASSERT_TRUE(state);
  EXPECT_EQ(table.print().state(*state), trimmed(text));
  // In a step that has no slot for it there is nothing to hold.
  EXPECT_FALSE(read_state(
      bytes, graph_of("begin: Start -> A | B \n pack: A -> Stop \n rescue!1: StepFailed -> A")));
}

TEST_F(StateCodec, what_came_early_is_read_as_it_was_written) {
  const std::string text = std::string(kCodecState) + "early B1\nearly A2 to work\n";
  const base::Bytes bytes = written(text);
  const auto state = read_state(bytes, table_.graph());
  ASSERT_TRUE(state);
  EXPECT_EQ(table_.print().state(*state), trimmed(text));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_state(base::ByteView(bytes).first(size), table_.graph())) << size;
}

// The bytes of kState before there were slots.
constexpr char kVersion1[] =
    "8a01f5182d0908020384848080808084808186878300f44101010000020080000100f5808080848080808084828783"
    "01"
    "f4410304010000184680878301f441040500000000808286878301f44101020101030081820001000203f482646f6f"
    "70"
    "736086878301f44102030200030080010302f58082836764656661756c7401828301f441018301f4410283656f7468"
    "65"
    "720380838861770282826377686f42617882616e4107878301f441010600000000800009f4808861760280878301f4"
    "41"
    "020700000000800000f4818302f441038861750280878301f441030800000000800000f580828501000280818402f4"
    "82"
    "8302f441018302f44102808502010180818402f58080828361610241058361620340";

TEST_F(StateCodec, a_state_without_slots_is_what_it_always_was) {
  const auto bytes = base::from_hex(kVersion1);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(written(kCodecState), *bytes);
  const auto state = read_state(*bytes, table_.graph());
  ASSERT_TRUE(state);
  EXPECT_EQ(table_.print().state(*state), trimmed(kCodecState));
}

TEST_F(StateCodec, a_state_of_a_version_to_come_is_refused) {
  base::Bytes bytes = written(kCodecState);
  ASSERT_EQ(bytes.at(1), 1);
  bytes[1] = 3;
  EXPECT_FALSE(read_state(bytes, table_.graph()));
}

TEST_F(StateCodec, an_idle_run_takes_little) {
  // A number or two for each step, and nothing else.
  EXPECT_LT(written("last i100000 r100000").size(), 60U);
}

TEST_F(StateCodec, a_state_of_another_graph_is_refused) {
  const base::Bytes bytes = written(kCodecState);
  EXPECT_FALSE(read_state(bytes, graph_of("work: A -> B")));
  EXPECT_FALSE(read_state(bytes, graph_of("a: A -> A \n b: A -> A \n c: A -> A \n d: A -> A")));
}

TEST_F(StateCodec, what_is_cut_off_or_has_more_behind_it_is_refused) {
  base::Bytes bytes = written(kCodecState);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_state(base::ByteView(bytes).first(size), table_.graph())) << size;
  bytes.push_back(0);
  EXPECT_FALSE(read_state(bytes, table_.graph()));
}

TEST_F(StateCodec, a_byte_that_is_wrong_does_no_harm) {
  const base::Bytes bytes = written(kCodecState);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x20, 0x80, 0xff}) {
      base::Bytes other = bytes;
      other[at] = static_cast<std::uint8_t>(other[at] ^ mask);
      auto state = read_state(other, table_.graph());
      if (!state) continue;
      // What is accepted can be reduced, whatever it says.
      std::vector<Command> commands;
      for (const std::uint64_t run : {1U, 2U, 3U})
        reduce(table_.graph(), *state, table_.result(run, table_.returns_nothing()), 9, commands);
      reduce(table_.graph(), *state, WakeUp{100}, 9, commands);
      reduce(table_.graph(), *state, IdleCheck{}, 9, commands);
    }
  }
}

}  // namespace
}  // namespace holdfast::steps::testing
