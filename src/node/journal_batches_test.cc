// SPDX-License-Identifier: Apache-2.0
#include "node/journal_batches.h"

#include <gmock/gmock.h>

#include "node/testing_journal.h"
#include "store/testing.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;

// One whose batches have so many bytes at most, each record counting four more.
class NarrowJournal : public testing::JournalAround {
 public:
  NarrowJournal(store::Journal& inner, std::size_t most) : JournalAround(inner), most_(most) {}
  std::size_t max_batch_bytes() const override { return most_; }
  base::Result<store::RecordNumber> append(std::span<const base::ByteView> records,
                                           store::Room room) override {
    if (store::body_bytes_of(records) > most_)
      return base::Error(base::ErrorCode::kTooLarge, "the batch is too large");
    batches.push_back(records.size());
    return JournalAround::append(records, room);
  }

  std::vector<std::size_t> batches;

 private:
  const std::size_t most_;
};

std::vector<std::size_t> batches_of(std::size_t records, std::size_t bytes, std::size_t most) {
  store::testing::SimWorld world;
  const auto open = world.open().take();
  NarrowJournal journal(open->journal(), most);
  JournalBatches batches(journal);
  for (std::size_t i = 1; i <= records; ++i) {
    const std::string text = store::testing::record_text(i, bytes);
    const auto added = batches.add(base::as_bytes(text));
    EXPECT_TRUE(added) << added.error().to_string();
  }
  EXPECT_TRUE(batches.write());
  EXPECT_EQ(store::testing::read_all(journal)->size(), records);
  return journal.batches;
}

TEST(JournalBatches, hold_as_much_as_the_journal_takes) {
  EXPECT_THAT(batches_of(7, 96, 300), ElementsAre(3, 3, 1));
  EXPECT_THAT(batches_of(7, 96, 299), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(batches_of(2, 96, 100), ElementsAre(1, 1));
}

TEST(JournalBatches, hold_a_few_hundred_records_however_small) {
  EXPECT_THAT(batches_of(600, 12, 1 << 20), ElementsAre(256, 256, 88));
  EXPECT_THAT(batches_of(0, 12, 1 << 20), ElementsAre());
}

}  // namespace
}  // namespace holdfast::node
