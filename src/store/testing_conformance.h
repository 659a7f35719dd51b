// SPDX-License-Identifier: Apache-2.0
// What every implementation of Journal must do, as a typed test suite. A World is a class with
//
//   base::Result<std::unique_ptr<Open>> open();   // kConflict while another Open lives
//
// where Open has journal(), and its death without close() is the death of a process.
// For tests only.
#pragma once

#include <gtest/gtest.h>

#include "store/testing.h"

namespace holdfast::store::testing {

template <class World>
class JournalConformance : public ::testing::Test {
 protected:
  auto open() {
    auto opened = world_.open();
    if (!opened) {
      ADD_FAILURE() << opened.error().to_string();
      std::abort();
    }
    return std::move(*opened);
  }

  World world_;
};

TYPED_TEST_SUITE_P(JournalConformance);

TYPED_TEST_P(JournalConformance, a_new_journal_is_empty) {
  auto world = this->open();
  EXPECT_EQ(world->journal().first(), 1u);
  EXPECT_EQ(world->journal().last(), 0u);
  EXPECT_EQ(world->journal().durable(), 0u);
  EXPECT_TRUE(read_all(world->journal())->empty());
}

TYPED_TEST_P(JournalConformance, records_are_read_as_they_were_appended) {
  auto world = this->open();
  const std::string with_zero("a\0b", 3);
  const std::vector<base::ByteView> records = {
      base::as_bytes("first"), {}, base::as_bytes(with_zero)};
  EXPECT_EQ(*world->journal().append(records), 3u);
  EXPECT_EQ(*world->journal().sync(), 3u);
  EXPECT_EQ(*read_all(world->journal()), (std::vector<std::string>{"first", "", with_zero}));
}

TYPED_TEST_P(JournalConformance, what_is_not_synced_is_not_read) {
  auto world = this->open();
  EXPECT_EQ(*append_batch(world->journal(), 2), 2u);
  EXPECT_EQ(world->journal().last(), 2u);
  EXPECT_EQ(world->journal().durable(), 0u);
  EXPECT_TRUE(read_all(world->journal())->empty());
  EXPECT_EQ(*world->journal().sync(), 2u);
  EXPECT_EQ(read_all(world->journal())->size(), 2u);
}

TYPED_TEST_P(JournalConformance, synced_records_survive_the_death_of_the_process) {
  for (RecordNumber round = 0; round < 5; ++round) {
    auto world = this->open();
    EXPECT_EQ(world->journal().durable(), 3 * round);
    ASSERT_TRUE(commit_batch(world->journal(), 3));
  }
  auto world = this->open();
  const auto records = *read_all(world->journal());
  ASSERT_EQ(records.size(), 15u);
  for (RecordNumber number = 1; number <= 15; ++number)
    EXPECT_EQ(records[number - 1], record_text(number));
}

TYPED_TEST_P(JournalConformance, a_closed_journal_opens_with_all_records) {
  {
    auto world = this->open();
    ASSERT_TRUE(commit_batch(world->journal(), 2));
    ASSERT_TRUE(world->journal().close());
  }
  auto world = this->open();
  EXPECT_EQ(world->journal().last(), 2u);
  ASSERT_TRUE(commit_batch(world->journal(), 1));
  EXPECT_EQ(read_all(world->journal())->size(), 3u);
}

TYPED_TEST_P(JournalConformance, a_closed_journal_takes_nothing_more) {
  auto world = this->open();
  ASSERT_TRUE(world->journal().close());
  EXPECT_FALSE(append_batch(world->journal(), 1));
  EXPECT_FALSE(world->journal().sync());
}

TYPED_TEST_P(JournalConformance, each_opening_has_a_higher_epoch) {
  std::uint64_t before = 0;
  for (int round = 0; round < 9; ++round) {
    auto world = this->open();
    EXPECT_GT(world->journal().epoch(), before);
    before = world->journal().epoch();
    if (round % 3 == 1) {
      ASSERT_TRUE(commit_batch(world->journal(), 1));
    }
    if (round % 3 == 2) {
      ASSERT_TRUE(world->journal().close());
    }
  }
}

TYPED_TEST_P(JournalConformance, a_second_opening_is_refused_at_once) {
  auto world = this->open();
  const auto second = this->world_.open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kConflict);
  EXPECT_NE(second.error().message().find("process " + std::to_string(::getpid())),
            std::string::npos)
      << second.error().to_string();
}

TYPED_TEST_P(JournalConformance, reading_begins_at_any_record) {
  auto world = this->open();
  for (std::size_t i = 0; i < 20; ++i) ASSERT_TRUE(commit_batch(world->journal(), 1 + i % 4, 700));
  const auto all = *read_all(world->journal());
  for (RecordNumber from = 1; from <= all.size() + 1; ++from) {
    const auto records = read_all(world->journal(), from);
    ASSERT_TRUE(records) << records.error().to_string();
    EXPECT_TRUE(std::equal(records->begin(), records->end(),
                           all.begin() + static_cast<std::ptrdiff_t>(from - 1), all.end()));
  }
}

TYPED_TEST_P(JournalConformance, a_reader_follows_what_is_appended) {
  auto world = this->open();
  auto reader = *world->journal().read(1);
  for (RecordNumber number = 1; number <= 40; ++number) {
    EXPECT_FALSE(reader->next()->has_value());
    ASSERT_TRUE(commit_batch(world->journal(), 1, 100 * number));
    if (number % 7 == 0) {
      ASSERT_TRUE(world->journal().mark());
    }
    const auto record = reader->next();
    ASSERT_TRUE(record) << record.error().to_string();
    ASSERT_TRUE(record->has_value());
    EXPECT_EQ(base::as_text((*record)->bytes), record_text(number, 100 * number));
  }
}

TYPED_TEST_P(JournalConformance, trimmed_records_are_a_named_error) {
  auto world = this->open();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(commit_batch(world->journal(), 1, 3000));
  auto reader = *world->journal().read(1);
  ASSERT_TRUE(reader->next()->has_value());
  ASSERT_TRUE(world->journal().trim(20));
  const RecordNumber first = world->journal().first();
  EXPECT_GT(first, 1u);
  EXPECT_LE(first, 20u);

  const auto below = world->journal().read(first - 1);
  ASSERT_FALSE(below);
  EXPECT_EQ(below.error().code(), base::ErrorCode::kNotFound);
  EXPECT_NE(below.error().message().find("trimmed"), std::string::npos);
  const auto lagging = reader->next();
  ASSERT_FALSE(lagging);
  EXPECT_EQ(lagging.error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(read_all(world->journal(), first)->size(), 30 - first + 1);
}

TYPED_TEST_P(JournalConformance, trimming_survives_and_the_rest_is_whole) {
  RecordNumber first = 0;
  {
    auto world = this->open();
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(commit_batch(world->journal(), 1, 3000));
      if (i % 10 == 9) {
        ASSERT_TRUE(world->journal().trim(static_cast<RecordNumber>(i - 5)));
      }
      if (i % 6 == 5) {
        ASSERT_TRUE(world->journal().prepare());
      }
    }
    first = world->journal().first();
  }
  auto world = this->open();
  EXPECT_EQ(world->journal().first(), first);
  EXPECT_EQ(world->journal().last(), 60u);
  const auto records = read_all(world->journal(), first);
  ASSERT_TRUE(records) << records.error().to_string();
  for (std::size_t i = 0; i < records->size(); ++i)
    EXPECT_EQ((*records)[i], record_text(first + i, 3000));
}

TYPED_TEST_P(JournalConformance, pinned_records_are_read_to_the_end_whatever_is_trimmed) {
  auto world = this->open();
  Journal& journal = world->journal();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(commit_batch(journal, 1, 3000));
  auto pin = journal.pin(0);
  EXPECT_EQ(pin->first(), 1u);
  auto reader = *journal.read(pin->first());
  ASSERT_TRUE(reader->next()->has_value());
  ASSERT_TRUE(journal.trim(20));
  const RecordNumber first = journal.first();
  EXPECT_GT(first, 1u);
  EXPECT_EQ(journal.pin(1)->first(), first) << "it is given up, and whoever comes now begins later";
  EXPECT_EQ(journal.pin(25)->first(), 25u);
  EXPECT_TRUE(pin->holds());
  for (RecordNumber number = 2; number <= 30; ++number) {
    const auto record = reader->next();
    ASSERT_TRUE(record) << record.error().to_string();
    ASSERT_EQ(base::as_text((*record)->bytes), record_text(number, 3000));
  }
  EXPECT_EQ(read_all(journal, 1)->size(), 30u) << "from the beginning, as often as one likes";

  pin.reset();
  ASSERT_TRUE(journal.trim(20));
  EXPECT_EQ(journal.first(), first);
  EXPECT_EQ(journal.read(first - 1).error().code(), base::ErrorCode::kNotFound);
}

TYPED_TEST_P(JournalConformance, pins_that_follow_each_other_do_not_hold_records_for_ever) {
  auto world = this->open();
  Journal& journal = world->journal();
  auto pin = journal.pin(0);
  for (RecordNumber number = 1; number <= 60; ++number) {
    ASSERT_TRUE(commit_batch(journal, 1, 3000));
    if (number % 10 != 0) continue;
    ASSERT_TRUE(journal.trim(number));
    auto next = journal.pin(0);  // before the one before it goes
    EXPECT_EQ(next->first(), journal.first());
    pin = std::move(next);
    if (number < 30) continue;
    const auto old = journal.read(number - 20);
    ASSERT_FALSE(old) << number;
    EXPECT_EQ(old.error().code(), base::ErrorCode::kNotFound);
  }
}

TYPED_TEST_P(JournalConformance, a_batch_that_is_too_large_changes_nothing) {
  auto world = this->open();
  const base::Bytes large(world->journal().max_batch_bytes(), 'x');
  const std::vector<base::ByteView> records = {large};
  const auto refused = world->journal().append(records);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  ASSERT_TRUE(commit_batch(world->journal(), 1));
  EXPECT_EQ(read_all(world->journal())->size(), 1u);
}

TYPED_TEST_P(JournalConformance, a_large_batch_is_kept_whole) {
  {
    auto world = this->open();
    ASSERT_TRUE(commit_batch(world->journal(), 1));
    ASSERT_TRUE(commit_batch(world->journal(), 3, 1'000'000));
    ASSERT_TRUE(commit_batch(world->journal(), 1));
  }
  auto world = this->open();
  const auto records = *read_all(world->journal());
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[3], record_text(4, 1'000'000));
}

REGISTER_TYPED_TEST_SUITE_P(JournalConformance, a_new_journal_is_empty,
                            records_are_read_as_they_were_appended, what_is_not_synced_is_not_read,
                            synced_records_survive_the_death_of_the_process,
                            a_closed_journal_opens_with_all_records,
                            a_closed_journal_takes_nothing_more, each_opening_has_a_higher_epoch,
                            a_second_opening_is_refused_at_once, reading_begins_at_any_record,
                            a_reader_follows_what_is_appended, trimmed_records_are_a_named_error,
                            trimming_survives_and_the_rest_is_whole,
                            pinned_records_are_read_to_the_end_whatever_is_trimmed,
                            pins_that_follow_each_other_do_not_hold_records_for_ever,
                            a_batch_that_is_too_large_changes_nothing, a_large_batch_is_kept_whole);

}  // namespace holdfast::store::testing
