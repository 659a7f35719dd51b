// SPDX-License-Identifier: Apache-2.0
// Sealing the records of a journal, and finding out what was done to them since.
#include "node/sealer.h"

#include <gmock/gmock.h>

#include "env/crash.h"
#include "node/node_key.h"
#include "node/seal_check.h"
#include "store/testing.h"

namespace holdfast::node {
namespace {

using store::testing::append_batch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SealerTest : public ::testing::Test {
 protected:
  SealerTest() { open(); }

  void open() {
    sealer_.reset();
    open_.reset();
    open_ = world_->open().take();
  }
  // The process dies, and another one goes on.
  void restart() { go_back(world_->disk().now()); }

  store::Journal& journal() { return open_->journal(); }
  void append(std::size_t count, std::size_t bytes = 0) {
    ASSERT_TRUE(append_batch(journal(), count, bytes));
    ASSERT_TRUE(journal().sync());
  }
  void seal(std::size_t slice = 1000) {
    if (!sealer_) sealer_ = Sealer::open(open_->folder, journal()).take();
    while (sealer_->lag() > 0) ASSERT_TRUE(sealer_->run({.records = slice}));
    EXPECT_FALSE(*sealer_->run()) << "there is no more";
  }

  std::vector<base::Bytes> records() {
    std::vector<base::Bytes> all;
    const auto reader = journal().read(journal().first()).take();
    while (const auto record = reader->next().take())
      all.emplace_back(record->bytes.begin(), record->bytes.end());
    return all;
  }

  struct Found {
    std::vector<std::string> errors;
    std::vector<std::string> notes;
    std::uint64_t sealed = 0;
    std::optional<store::Seal> last;
  };
  // What is said of these records, as if the journal held them.
  Found judge(const std::vector<base::Bytes>& records, const SealTerms& terms = {}) {
    sealer_.reset();
    const store::RecordNumber first = journal().first();
    base::Errors errors;
    std::unique_ptr<store::SealsLook> look;
    if (auto opened = store::SealsLook::open(store::WorldPlace::of(open_->folder))) {
      look = std::move(*opened);
    } else {
      errors.push_back(std::move(opened).error());
    }
    SealCheck check(look.get(), first, terms, errors);
    store::RecordNumber number = first - 1;
    for (const base::Bytes& record : records) check.check({++number, record});
    Found found;
    check.finish(number, found.notes);
    for (const base::Error& error : errors) found.errors.push_back(error.to_string());
    found.sealed = check.records();
    found.last = check.last();
    return found;
  }
  // The same of those that are there, after somebody has changed the seals.
  Found tampered(const std::string& sql) {
    sealer_.reset();
    {
      auto file = store::open_world_database(open_->folder, store::kSealsFile, "").take();
      EXPECT_TRUE(file.database.run(sql));
    }
    return judge(records());
  }
  // As it was then.
  void go_back(const env::DiskState& state) {
    sealer_.reset();
    open_.reset();
    world_ = std::make_unique<store::testing::SimWorld>(state);
    open();
  }

  std::unique_ptr<store::testing::SimWorld> world_ = std::make_unique<store::testing::SimWorld>();
  std::unique_ptr<store::testing::OpenWorld> open_;
  std::unique_ptr<Sealer> sealer_;
};

TEST_F(SealerTest, records_are_as_they_were_sealed_however_they_were_sliced) {
  append(5);
  seal(2);
  append(4);
  restart();
  seal(3);
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_EQ(found.sealed, 9u);
}

TEST_F(SealerTest, what_is_not_sealed_yet_is_said) {
  append(3);
  seal();
  append(2);
  EXPECT_THAT(judge(records()).notes, ElementsAre("not sealed yet: records 4 to 5"));
}

TEST_F(SealerTest, a_record_that_was_changed_turned_or_cut_off_is_found) {
  append(6);
  seal(2);
  const std::vector<base::Bytes> whole = records();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto changed = whole;
    changed[i].back() ^= 1;
    const store::RecordNumber first = i / 2 * 2 + 1;
    EXPECT_THAT(judge(changed).errors,
                ElementsAre(HasSubstr("records " + std::to_string(first) + " to " +
                                      std::to_string(first + 1) + ": not what was sealed")));
  }
  auto turned = whole;
  std::swap(turned[2], turned[3]);
  EXPECT_THAT(judge(turned).errors, ElementsAre(HasSubstr("records 3 to 4: not what was sealed")));
  auto shorter = whole;
  shorter.pop_back();
  EXPECT_THAT(judge(shorter).errors,
              ElementsAre(HasSubstr("record 6: was sealed, but the journal ends with record 5")));
  auto left_out = whole;
  left_out.erase(left_out.begin());
  EXPECT_EQ(judge(left_out).errors.size(), 3u);
}

TEST_F(SealerTest, only_the_key_that_is_named_counts) {
  append(2);
  seal();
  const auto key = read_node_key(open_->folder).take()->public_key();
  EXPECT_THAT(judge(records(), {.key = key}).errors, IsEmpty());
  base::Ed25519Key other = key;
  other[0] ^= 1;
  const Found found = judge(records(), {.key = other});
  EXPECT_THAT(found.errors, ElementsAre(HasSubstr("by another key")));
  EXPECT_EQ(found.sealed, 0u);
}

TEST_F(SealerTest, a_key_without_seals_is_an_error) {
  append(1);
  EXPECT_THAT(judge(records()).errors, IsEmpty());
  EXPECT_THAT(judge(records(), {.key = base::Ed25519Key{}}).errors,
              ElementsAre(HasSubstr("has no seals")));
}

// Whoever can set back both, and has the node seal what is forged, is found out by this alone.
TEST_F(SealerTest, a_seal_that_is_remembered_must_be_there) {
  append(3);
  seal(2);
  const store::Seal last = *judge(records()).last;
  EXPECT_EQ(last.last, 3u);
  EXPECT_THAT(judge(records(), {.seal = {{3, last.hash}}}).errors, IsEmpty());
  EXPECT_THAT(judge(records(), {.seal = {{3, base::Hash{}}}}).errors,
              ElementsAre(HasSubstr("the seal of record 3 is not the one that is remembered")));
  EXPECT_THAT(judge(records(), {.seal = {{9, last.hash}}}).errors,
              ElementsAre(HasSubstr("has no seal that ends with record 9")));
}

// Somebody who can write the file, but has not got the key.
TEST_F(SealerTest, seals_that_were_made_without_the_key_or_removed_are_found) {
  append(6);
  seal(2);
  sealer_.reset();
  const env::DiskState before = world_->disk().now();
  EXPECT_THAT(tampered("UPDATE seals SET signature = zeroblob(64) WHERE last = 4").errors,
              ElementsAre(HasSubstr("the seal of records 3 to 4 was not signed by the key")));
  go_back(before);
  EXPECT_THAT(tampered("DELETE FROM seals WHERE last = 2").errors,
              ElementsAre(HasSubstr("records 3 to 4: not what was sealed")));
  go_back(before);
  EXPECT_THAT(tampered("DELETE FROM seals WHERE last = 4").errors,
              ElementsAre(HasSubstr("records 3 to 4: not sealed, but later records are"),
                          HasSubstr("records 5 to 6: not what was sealed")));
  go_back(before);
  EXPECT_THAT(tampered("UPDATE seals SET hash = x'00' WHERE last = 4").errors,
              ElementsAre(HasSubstr("what it has of record 4 is no seal")));
  go_back(before);
  EXPECT_THAT(tampered("UPDATE seals SET first = 1 WHERE last = 4").errors,
              ElementsAre(HasSubstr("the seal of records 1 to 4 was not signed"),
                          HasSubstr("covers what is sealed already")));
}

// A seal counts for just the records that it was made for, also where they are gone.
TEST_F(SealerTest, a_seal_cannot_be_stretched_over_what_was_trimmed) {
  for (int i = 0; i < 12; ++i) {
    append(2, 3000);
    seal();
  }
  ASSERT_TRUE(journal().trim(17));
  ASSERT_GT(journal().first(), 3u);
  const Found found = tampered("DELETE FROM seals WHERE last <> 24; UPDATE seals SET first = 1");
  EXPECT_THAT(found.errors, ElementsAre(HasSubstr("records 1 to 24 was not signed")));
}

TEST_F(SealerTest, records_under_a_seal_that_was_trimmed_in_part_are_named) {
  for (int i = 0; i < 12; ++i) append(2, 3000);
  seal();
  ASSERT_TRUE(journal().trim(17));
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.notes,
              ElementsAre("records " + std::to_string(journal().first()) +
                          " to 24 cannot be held against a seal: it covers records that were "
                          "trimmed, too"));
  EXPECT_EQ(found.sealed, 0u);
}

TEST_F(SealerTest, seals_are_trimmed_with_the_journal_and_still_hold) {
  for (int i = 0; i < 12; ++i) {
    append(2, 3000);
    seal();
  }
  ASSERT_TRUE(journal().trim(17));
  ASSERT_GT(journal().first(), 3u);
  append(2);
  seal();
  EXPECT_THAT(judge(records()).errors, IsEmpty());
  append(2);  // a trim may be undone for a while
  seal();
  append(2);
  seal();
  EXPECT_THAT(judge(records()).errors, IsEmpty());
  const auto look = store::SealsLook::open(store::WorldPlace::of(open_->folder)).take();
  const auto oldest = look->next().take();
  EXPECT_EQ(oldest->last, journal().first() - 1) << "the one that the first record follows";
}

// What is trimmed and held for a reader is part of the journal again after a restart.
TEST_F(SealerTest, what_is_held_for_a_reader_keeps_its_seals) {
  for (int i = 0; i < 12; ++i) {
    append(2, 3000);
    seal();
  }
  const auto pin = journal().pin(0);
  ASSERT_TRUE(journal().trim(17));
  ASSERT_GT(journal().first(), 3u);
  EXPECT_EQ(journal().first_on_disk(), 1u);
  for (int i = 0; i < 3; ++i) {
    append(2);
    seal();
  }
  EXPECT_THAT(judge(records()).errors, IsEmpty());
  restart();
  EXPECT_EQ(journal().first(), 1u);
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.sealed, 30u);
}

TEST_F(SealerTest, what_is_held_keeps_its_seals_from_a_sealer_that_begins_after_the_trim) {
  for (int i = 0; i < 12; ++i) {
    append(2, 3000);
    seal();
  }
  sealer_.reset();
  const auto pin = journal().pin(0);
  ASSERT_TRUE(journal().trim(17));
  for (int i = 0; i < 3; ++i) {
    append(2);
    seal();
  }
  restart();
  EXPECT_EQ(journal().first(), 1u);
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.sealed, 30u);
}

TEST_F(SealerTest, behind_what_was_trimmed_unsealed_the_chain_begins_anew) {
  append(2);
  seal();
  sealer_.reset();
  for (int i = 0; i < 12; ++i) append(2, 3000);
  ASSERT_TRUE(journal().trim(17));
  ASSERT_GT(journal().first(), 3u);
  seal();
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.sealed, journal().last() - journal().first() + 1);
}

// Nor opened; and when it has grown beyond that again, the old seals are the evidence.
TEST_F(SealerTest, a_journal_that_lost_what_was_sealed_is_not_sealed_any_more) {
  append(1);
  const env::DiskState before = world_->disk().now();
  append(3);
  seal();
  sealer_.reset();
  const env::DiskState sealed = world_->disk().now();
  const auto with_its_seals = [&sealed](env::DiskState mixed) {
    for (const auto& [name, file] : sealed.names) {
      if (name.find("/seals.db") == std::string::npos && name.find("/keys") == std::string::npos)
        continue;
      const std::uint64_t copy = mixed.files.rbegin()->first + 1;
      mixed.names[name] = copy;
      mixed.files[copy] = sealed.files.at(file);
    }
    mixed.folders.insert("./world/keys");
    return mixed;
  };
  store::testing::SimWorld shorter(with_its_seals(before));
  EXPECT_THAT(shorter.open().error().message(),
              HasSubstr("the journal ends with record 1, but ./world/seals.db knows record 4"));
  go_back(before);
  append(2, 50);
  append(2, 50);
  go_back(with_its_seals(world_->disk().now()));
  const auto refused = Sealer::open(open_->folder, journal());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(),
              HasSubstr("what was sealed up to record 4 is not what stands in this"));
}

TEST_F(SealerTest, a_key_is_made_once_and_not_again_while_there_are_seals) {
  append(1);
  seal();
  const auto first = read_node_key(open_->folder).take()->public_key();
  restart();
  EXPECT_EQ(read_node_key(open_->folder).take()->public_key(), first);
  append(1);
  ASSERT_TRUE(env::replace_file(world_->disk(), "./world/keys/node", base::as_bytes("no key\n")));
  const auto refused = Sealer::open(open_->folder, journal());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
  ASSERT_TRUE(world_->disk().remove("./world/keys/node"));
  EXPECT_FALSE(Sealer::open(open_->folder, journal()));
  ASSERT_TRUE(make_node_key(open_->folder));
  const auto other = Sealer::open(open_->folder, journal());
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().to_string(), HasSubstr("which is not here"));
}

TEST_F(SealerTest, many_records_are_many_seals_and_a_slice_says_that_there_is_more) {
  append(store::kMaxSealRecords + 10);
  sealer_ = Sealer::open(open_->folder, journal()).take();
  EXPECT_TRUE(*sealer_->run({.records = store::kMaxSealRecords + 5}));
  EXPECT_EQ(sealer_->lag(), 5u);
  seal();
  const Found found = judge(records());
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.sealed, store::kMaxSealRecords + 10);
}

// The file is there before there is anything in it.
TEST_F(SealerTest, a_process_that_died_while_it_made_the_file_has_made_none) {
  append(1);
  ASSERT_TRUE(env::replace_file(world_->disk(), "./world/seals.db", {}));
  EXPECT_EQ(store::SealsLook::open(store::WorldPlace::of(open_->folder)).take(), nullptr);
}

// At any moment at which the power may be cut, what is left of the seals holds, and they go on.
TEST_F(SealerTest, no_power_cut_leaves_seals_that_do_not_hold) {
  for (int i = 0; i < 4; ++i) {
    append(2);
    seal(1);
  }
  sealer_.reset();
  open_.reset();
  const std::unique_ptr<store::testing::SimWorld> cut = std::move(world_);
  std::uint64_t turn = 0;
  std::uint64_t images = 0;
  std::uint64_t behind = 0;
  env::for_each_crash(cut->disk().operations(), [&](const env::Crash& crash) {
    if (turn++ % 4 != 0 || HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    sealer_.reset();
    open_.reset();
    world_ = std::make_unique<store::testing::SimWorld>(
        env::after_crash(cut->disk().start(), cut->disk().operations(), crash));
    open();
    const store::RecordNumber found = journal().last();
    auto opened = Sealer::open(open_->folder, journal());
    ASSERT_TRUE(opened) << opened.error().to_string();
    sealer_ = std::move(*opened);
    if (sealer_->lag() > 0) ++behind;
    EXPECT_THAT(judge(records()).errors, IsEmpty());
    append(1);
    seal();
    const Found judged = judge(records());
    EXPECT_THAT(judged.errors, IsEmpty());
    EXPECT_EQ(judged.sealed, found + 1);
  });
  EXPECT_GT(images, 50u);
  EXPECT_GT(behind, 5u) << "cuts that leave nothing to seal show nothing";
}

}  // namespace
}  // namespace holdfast::node
