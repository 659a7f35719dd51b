// SPDX-License-Identifier: Apache-2.0
// For the tests of the index of instances: a made-up history, and everything that an index holds,
// to compare. For tests only.
#pragma once

#include <map>
#include <random>

#include "base/sha256.h"
#include "store/history_index.h"
#include "store/testing.h"

namespace holdfast::store::testing {

struct OpenHistory {
  WorldFolder folder;
  std::unique_ptr<HistoryIndex> index;
};

inline base::Result<std::unique_ptr<OpenHistory>> open_history(env::Disk& disk,
                                                               env::Random& random) {
  const auto process = env::posix_process();
  auto open = std::make_unique<OpenHistory>(
      OpenHistory{TRY(WorldFolder::open(disk, random, *process, "./world")), nullptr});
  open->index = TRY(HistoryIndex::open(open->folder));
  return open;
}

// Records that touch one to three of a few instances each. They begin, say things, fail, are
// deleted or forgotten and begin again; all of it follows from the seed.
class MadeUpHistory {
 public:
  explicit MadeUpHistory(std::size_t records, std::uint64_t seed = 1) : choose_(seed) {
    for (RecordNumber number = 1; number <= records; ++number) add(number);
  }

  RecordNumber last() const { return records_.size(); }
  static base::Hash hash(RecordNumber record) {
    return record == 0 ? base::Hash{} : base::sha256(base::as_bytes(record_text(record)));
  }

  // Tells the index of the records behind its cursor, up to `last`, in one batch.
  base::Result<void> feed(HistoryIndex& index, RecordNumber last) const {
    HistoryBatch batch;
    for (RecordNumber number = index.cursor().record + 1; number <= last; ++number) {
      for (const InstanceChange& change : records_[number - 1]) batch.add(change);
    }
    return index.apply(batch, last, hash(last));
  }

 private:
  struct Life {
    RecordNumber last = 0;   // 0: there is none
    RecordNumber shown = 0;  // by its row; 0: there is none
    std::string status;
  };

  void add(RecordNumber number) {
    auto& changes = records_.emplace_back();
    std::map<std::uint64_t, bool> touched;
    for (std::uint64_t i = choose_() % 3 + 1; i > 0; --i) {
      const std::uint64_t instance = choose_() % 12;
      if (touched.emplace(instance, true).second) changes.push_back(change(number, instance));
    }
  }

  InstanceChange change(RecordNumber number, std::uint64_t instance) {
    constexpr const char* kStatuses[] = {"running", "waiting", "completed", "failed", "deleted"};
    Life& life = lives_[instance];
    InstanceChange change;
    change.workflow = instance % 3 == 0 ? "shop/Order@1" : "shop/Parcel@1";
    change.key = {0x41, static_cast<std::uint8_t>('a' + instance)};
    change.key_text = std::string("\"") + static_cast<char>('a' + instance) + "\"";
    change.record = number;
    change.time_ns = number * 1000;
    if (choose_() % 6 == 0) {
      change.forgets = true;
      change.previous = number - 1 - choose_() % 3;
      if (is_over(life.status) && life.shown <= change.previous) life = {};
      return change;
    }
    change.previous = life.last;
    change.status = kStatuses[choose_() % 5];
    change.paused = choose_() % 4 == 0;
    change.steps = choose_() % 3;
    if (change.status == "failed") {
      change.keeps_error = choose_() % 2 == 0;
      if (!change.keeps_error) change.error_code = "no." + std::to_string(number);
    }
    for (std::uint64_t i = choose_() % 3; i > 1; --i)
      change.annotations.push_back("said in " + std::to_string(number) +
                                   std::string(choose_() % 8 == 0 ? 30'000 : 0, 'x'));
    for (std::uint64_t i = choose_() % 4; i > 0; --i)
      change.entries.push_back({(number << 16) + 4 - i, base::Bytes(i, 'e')});
    if (is_over(change.status)) change.ended = (number << 16) + 9;
    life = {change.status == "deleted" ? 0 : number, number, change.status};
    return change;
  }

  std::mt19937_64 choose_;
  std::map<std::uint64_t, Life> lives_;
  std::vector<std::vector<InstanceChange>> records_;
};

// Every row with what it said and put out, the last one first.
inline std::vector<std::pair<InstanceRow, std::string>> everything(HistoryIndex& index) {
  std::vector<std::pair<InstanceRow, std::string>> all;
  HistoryQuery query{.limit = 7};
  do {
    auto page = index.list(query);
    EXPECT_TRUE(page) << page.error().to_string();
    if (!page) return all;
    for (InstanceRow& row : page->rows) {
      auto text = index.annotations(row.id);
      EXPECT_TRUE(text) << text.error().to_string();
      auto stream = index.stream(row.id, 0, kMaxStreamEntries, kMaxStreamBytes);
      EXPECT_TRUE(stream) << stream.error().to_string();
      for (const StreamEntry& entry : *stream)
        *text += "\n" + std::to_string(entry.sequence) + ": " + std::to_string(entry.value.size());
      all.emplace_back(std::move(row), text ? *text : "");
    }
    query.after = page->next;
  } while (query.after != 0);
  return all;
}

// What one pass over the whole of it gives.
inline std::vector<std::pair<InstanceRow, std::string>> rows_of_one_pass(
    const MadeUpHistory& history) {
  env::SimDisk disk;
  const auto random = env::seeded_random(3);
  auto open = open_history(disk, *random);
  EXPECT_TRUE(open) << open.error().to_string();
  EXPECT_TRUE(history.feed(*(*open)->index, history.last()));
  return everything(*(*open)->index);
}

}  // namespace holdfast::store::testing
