// SPDX-License-Identifier: Apache-2.0
#include "kernel/references.h"

#include <gtest/gtest.h>

#include <set>

#include "kernel/cell_codec.h"
#include "kernel/cells.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::LabTest;
using testing::MemoryBlobs;

// Remembers what was put.
class KeepingBlobs : public MemoryBlobs {
 public:
  base::Result<base::Hash> put(base::ByteView bytes) override {
    auto hash = MemoryBlobs::put(bytes);
    all.insert(*hash);
    return hash;
  }
  std::set<base::Hash> all;
};

// Everything that can be reached from what the reference names.
void walk(const Blobs& blobs, const BlobReference& from, std::set<base::Hash>& found) {
  const auto bytes = blobs.get(from.hash);
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  found.insert(from.hash);
  const auto named = references_of(from.kind, *bytes);
  ASSERT_TRUE(named) << named.error().to_string();
  for (const BlobReference& each : *named) walk(blobs, each, found);
}

class ReferencesTest : public LabTest {
 protected:
  // A snapshot of the lab's world as a new process would take it: replayed, into blobs that hold
  // nothing else.
  void expect_snapshot_reaches_everything() {
    KeepingBlobs blobs;
    World world(machines_, blobs);
    for (const base::Bytes& record : bench().journal()) ASSERT_TRUE(world.replay(record));
    const base::Hash snapshot = blobs.put(world.snapshot().take()).take();
    std::set<base::Hash> found;
    walk(blobs, {snapshot, BlobKind::kSnapshot}, found);
    EXPECT_EQ(found, blobs.all);
  }
};

TEST_F(ReferencesTest, a_snapshot_reaches_everything_that_was_put_for_it) {
  keyed_ = testing::work;
  begin(testing::kToKeyed);
  expect_snapshot_reaches_everything();
  std::vector<base::Hash> intents;
  for (int i = 0; i < 300; ++i)
    intents.push_back(testing::opened(send(std::to_string(i), 1, "id-" + std::to_string(i))).at(0));
  expect_snapshot_reaches_everything();
  const base::Bytes proposed = testing::document(testing::lab(testing::kToNumbered));
  bench().tick(Propose{proposed, "another route"});
  expect_snapshot_reaches_everything();
  for (const base::Hash& intent : intents) bench().receipt(intent, R"({"ok":true})");
  bench().apply(testing::lab_without_keyed());
  EXPECT_FALSE(bench().world().program().workflow_named("lab/Keyed@1"));
  expect_snapshot_reaches_everything();
}

TEST(References, an_index_of_cells_names_their_large_states) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  const base::Bytes key = testing::value("\"k\"");
  Cell& cell = cells.begin(key_hash(key), key);
  const base::Bytes state(2000, 0);
  cells.set_state(cell, state);
  ASSERT_TRUE(cells.flush());
  const base::Bytes leaf = blobs.get(cells.index().root()).take();
  const std::vector<BlobReference> expected = {{base::sha256(state), BlobKind::kPlain}};
  EXPECT_EQ(*references_of(BlobKind::kCellIndex, leaf), expected);
  EXPECT_TRUE(references_of(BlobKind::kIntentIndex, leaf)->empty());
  EXPECT_TRUE(references_of(BlobKind::kPlain, leaf)->empty());
}

TEST(References, an_index_of_cells_names_the_parts_of_states) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  const base::Bytes key = testing::value("\"k\"");
  Cell& cell = cells.begin(key_hash(key), key);
  StepOutput output;
  std::vector<BlobReference> expected;
  for (const std::string_view text : {"one part", "another part"}) {
    output.begin_part();
    output.bytes().append(base::as_bytes(text));
    expected.push_back({output.end_part(), BlobKind::kPlain});
  }
  cells.set_state(cell, testing::value("1"));
  cells.set_parts(cell, output);
  ASSERT_TRUE(cells.flush());
  const base::Bytes leaf = blobs.get(cells.index().root()).take();
  EXPECT_EQ(*references_of(BlobKind::kCellIndex, leaf), expected);
  for (const BlobReference& part : expected) EXPECT_TRUE(blobs.has(part.hash));
}

TEST(References, an_index_of_cells_names_large_outcomes_and_mail) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  const base::Bytes key = testing::value("\"k\"");
  Cell& cell = cells.begin(key_hash(key), key);
  Mail mail;
  mail.value = base::Bytes(2000, 2);
  cell.mail.push_back(mail);
  ASSERT_TRUE(cells.flush());
  const auto named = [&] {
    return *references_of(BlobKind::kCellIndex, blobs.get(cells.index().root()).take());
  };
  EXPECT_EQ(named(),
            (std::vector{BlobReference{base::sha256(base::Bytes(2000, 2)), BlobKind::kPlain}}));
  cell.mail.clear();
  cells.end(cell, Phase::kCompleted);
  cell.outcome = base::Bytes(2000, 1);
  cells.changed(cell);
  ASSERT_TRUE(cells.flush());
  EXPECT_EQ(named(),
            (std::vector{BlobReference{base::sha256(base::Bytes(2000, 1)), BlobKind::kPlain}}));
}

TEST(References, an_index_of_cells_names_the_chunks_of_much_mail_and_these_its_large_values) {
  MemoryBlobs blobs;
  Cells cells(0, blobs);
  const base::Bytes key = testing::value("\"k\"");
  Cell& cell = cells.begin(key_hash(key), key);
  Mail small;
  small.value = base::Bytes(1000, 1);
  for (int i = 0; i < 50; ++i) cell.mail.push_back(small);
  Mail large;
  large.value = base::Bytes(2000, 2);
  cell.mail.push_back(large);
  ASSERT_TRUE(cells.flush());
  const base::Bytes leaf = blobs.get(cells.index().root()).take();
  const auto chunks = *references_of(BlobKind::kCellIndex, leaf);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].kind, BlobKind::kMail);
  const std::vector<BlobReference> expected = {
      {base::sha256(base::Bytes(2000, 2)), BlobKind::kPlain}};
  EXPECT_EQ(*references_of(BlobKind::kMail, blobs.get(chunks[0].hash).take()), expected);
}

TEST(References, bytes_of_another_kind_are_refused) {
  const base::Bytes empty_list = {0xd9, 0xd9, 0xf7, 0x80};
  for (const base::Bytes& bytes : {base::Bytes{}, base::Bytes{0xff}, base::Bytes(100, 0x41)}) {
    for (const BlobKind kind : {BlobKind::kSnapshot, BlobKind::kCellIndex, BlobKind::kIntentIndex,
                                BlobKind::kProposals, BlobKind::kMail})
      EXPECT_EQ(references_of(kind, bytes).error().code(), base::ErrorCode::kCorrupt);
    EXPECT_TRUE(references_of(BlobKind::kPlain, bytes));
  }
  EXPECT_FALSE(references_of(BlobKind::kSnapshot, empty_list));
  EXPECT_FALSE(references_of(BlobKind::kCellIndex, empty_list));
  EXPECT_TRUE(references_of(BlobKind::kProposals, empty_list)->empty());
}

TEST_F(ReferencesTest, survives_every_cut_and_every_flipped_bit) {
  begin(testing::kToKeyed);
  for (int i = 0; i < 50; ++i) send(std::to_string(i), 1, "id-" + std::to_string(i));
  const base::Bytes snapshot = bench().world().snapshot().take();
  std::vector<std::pair<BlobKind, base::Bytes>> blobs = {{BlobKind::kSnapshot, snapshot}};
  for (const BlobReference& each : references_of(BlobKind::kSnapshot, snapshot).take())
    blobs.emplace_back(each.kind, bench().blobs().get(each.hash).take());
  for (const auto& [kind, bytes] : blobs) {
    if (kind == BlobKind::kPlain) continue;
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(references_of(kind, base::ByteView(bytes).first(size)));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      base::Bytes bad = bytes;
      bad[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
      const auto named = references_of(kind, bad);
      if (named) {
        EXPECT_LE(named->size(), references_of(kind, bytes)->size() + 1);
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::kernel
