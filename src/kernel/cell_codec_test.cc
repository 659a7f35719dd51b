// SPDX-License-Identifier: Apache-2.0
#include "kernel/cell_codec.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "kernel/testing_cells.h"

namespace holdfast::kernel {
namespace {

using testing::CountingBlobs;
using testing::MemoryBlobs;
using testing::message;
using testing::value;

TEST(CellCodecTest, a_cell_comes_back_as_it_was) {
  Cell cell;
  cell.key = value(R"("k")");
  cell.paused = true;
  cell.has_state = true;
  cell.state = value(R"({"n":1})");
  cell.intents.push_back(base::sha256(value("1")));
  cell.intents.push_back(base::sha256(value("2")));
  cell.last_record = 12;
  cell.last_active_ns = 13;
  Mail mail;
  mail.kind = MailKind::kRejected;
  mail.schema = "s";
  mail.value = value("1");
  mail.origin = {base::sha256(value("2")), "effect", "issuer", 4};
  mail.status = ReceiptStatus::kTimeout;
  mail.sequence = 6;
  mail.note = "note";
  mail.cost_cents = 7;
  mail.signature = {1, 2};
  mail.payload_hash.bytes[3] = 3;
  mail.payload_size = 8;
  cell.mail.push_back(mail);
  MemoryBlobs blobs;
  const auto again = decode_cell(*encode_cell(cell, blobs), blobs);
  ASSERT_TRUE(again);
  EXPECT_EQ(*encode_cell(*again, blobs), *encode_cell(cell, blobs));
  EXPECT_EQ(again->mail.bytes(), cell.mail.bytes());
  EXPECT_EQ((*again->mail.begin()).origin, mail.origin);
  EXPECT_EQ((*again->mail.begin()).cost_cents, 7u);
  EXPECT_EQ((*again->mail.begin()).signature, mail.signature);
  EXPECT_EQ(again->state, cell.state);
}

TEST(CellCodecTest, an_intent_without_a_hash_is_damage) {
  MemoryBlobs blobs;
  Cell cell;
  cell.key = value(R"("k")");
  cell.intents.push_back(base::sha256(value("1")));
  base::Bytes bytes = *encode_cell(cell, blobs);
  const auto at = std::search(bytes.begin(), bytes.end(), cell.intents.begin()->bytes.begin(),
                              cell.intents.begin()->bytes.end());
  ASSERT_NE(at, bytes.end());
  std::fill_n(at, 32, std::uint8_t{0});
  EXPECT_FALSE(decode_cell(bytes, blobs));
}

TEST(CellCodecTest, mail_with_the_hash_of_params_comes_back_and_other_mail_is_as_it_was) {
  MemoryBlobs blobs;
  Cell cell;
  cell.key = value(R"("k")");
  Mail mail;
  mail.kind = MailKind::kReceipt;
  mail.value = value("1");
  mail.origin = {base::sha256(value("0")), "effect", "issuer", 4};
  cell.mail.push_back(mail);
  const base::Bytes without = *encode_cell(cell, blobs);
  for (const char* worker : {"", "w-1"}) {
    Cell with;
    with.key = cell.key;
    mail.origin.worker = worker;
    mail.origin.params_hash = base::sha256(value("2"));
    with.mail.push_back(mail);
    const auto again = decode_cell(*encode_cell(with, blobs), blobs);
    ASSERT_TRUE(again);
    EXPECT_EQ((*again->mail.begin()).origin, mail.origin);
    EXPECT_EQ(*encode_cell(*again, blobs), *encode_cell(with, blobs));
    EXPECT_NE(*encode_cell(with, blobs), without);
  }
}

TEST(CellCodecTest, the_parts_of_a_state_come_back_with_and_without_what_stands_before_them) {
  MemoryBlobs blobs;
  for (const bool is_child : {false, true}) {
    Cell cell;
    cell.key = value(R"("k")");
    cell.has_state = true;
    cell.state = value(R"({"n":1})");
    cell.doomed = is_child;
    const base::Bytes without = *encode_cell(cell, blobs);
    cell.parts.resize(3);
    for (std::uint8_t i = 0; i < 3; ++i) cell.parts[i].hash.bytes[0] = i;
    const auto again = decode_cell(*encode_cell(cell, blobs), blobs);
    ASSERT_TRUE(again) << again.error().to_string();
    ASSERT_EQ(again->parts.size(), 3u);
    for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(again->parts[i].hash, cell.parts[i].hash);
    EXPECT_EQ(again->doomed, is_child);
    EXPECT_EQ(*encode_cell(*again, blobs), *encode_cell(cell, blobs));
    cell.parts.clear();
    EXPECT_EQ(*encode_cell(cell, blobs), without) << "as before there were parts";
  }
}

TEST(CellCodecTest, only_a_cell_that_has_ended_has_an_outcome) {
  MemoryBlobs blobs;
  for (const bool in_a_blob : {false, true}) {
    Cell cell;
    cell.key = value(R"("k")");
    if (in_a_blob) {
      cell.outcome_blob = *blobs.put(base::Bytes(2000, 1));
    } else {
      cell.outcome = value("5");
    }
    const auto refused = decode_cell(*encode_cell(cell, blobs), blobs);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
    cell.phase = Phase::kFailed;
    const auto again = decode_cell(*encode_cell(cell, blobs), blobs);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->outcome, cell.outcome);
    EXPECT_EQ(again->outcome_blob, cell.outcome_blob);
  }
}

TEST(CellCodecTest, refuses_every_cut_and_every_flipped_bit_or_reads_something_well_formed) {
  Cell cell;
  cell.key = value(R"("k")");
  Mail mail;
  mail.schema = "s";
  cell.mail.push_back(mail);
  MemoryBlobs blobs;
  const base::Bytes good = *encode_cell(cell, blobs);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(decode_cell(base::ByteView(good).first(size), blobs)) << size;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    base::Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    const auto decoded = decode_cell(bad, blobs);
    if (!decoded) continue;
    EXPECT_EQ(*encode_cell(*decoded, blobs), bad) << bit;
  }
}

TEST(CellCodecTest, much_mail_is_kept_in_chunks_and_comes_back_in_order) {
  CountingBlobs blobs;
  Cell cell;
  cell.key = value(R"("k")");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Mail mail = message(kInlineValueBytes);
    mail.sequence = i;
    cell.mail.push_back(mail);
  }
  const base::Bytes bytes = *encode_cell(cell, blobs);
  EXPECT_LT(bytes.size(), 1000u);
  EXPECT_GT(blobs.puts, 4);
  EXPECT_LT(blobs.largest, std::size_t{1} << 19);
  const auto again = decode_cell(bytes, blobs);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->mail.size(), 2000u);
  EXPECT_EQ(again->mail.bytes(), cell.mail.bytes());
  std::uint64_t expected = 0;
  for (const Mail& mail : again->mail) EXPECT_EQ(mail.sequence, expected++);
  blobs.broken = true;
  EXPECT_EQ(decode_cell(bytes, blobs).error().code(), base::ErrorCode::kIo);
}

}  // namespace
}  // namespace holdfast::kernel
