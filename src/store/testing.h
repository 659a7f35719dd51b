// SPDX-License-Identifier: Apache-2.0
// What the tests of the journal share: worlds on a simulated and on a real disk, records to put
// into them, and reading everything back. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/posix_disk.h"
#include "env/process.h"
#include "env/random.h"
#include "env/sim_disk.h"
#include "env/testing.h"
#include "store/file_journal.h"

namespace holdfast::store::testing {

// An open world. Destroying it without close() is what the death of a process does.
struct OpenWorld {
  WorldFolder folder;
  OpenedJournal opened;

  Journal& journal() { return *opened.journal; }
  const RecoveryReport& report() const { return opened.report; }
};

inline base::Result<std::unique_ptr<OpenWorld>> open_world(env::Disk& disk, env::Random& random,
                                                           const std::string& path,
                                                           JournalOptions options) {
  const auto process = env::posix_process();
  auto open = std::make_unique<OpenWorld>(
      OpenWorld{TRY(WorldFolder::open(disk, random, *process, path)), {}});
  open->opened = TRY(open_file_journal(open->folder, options));
  return open;
}

// Small enough that a few records fill a segment.
inline JournalOptions small_segments() { return {.segment_bytes = 6 * 4096}; }

class SimWorld {
 public:
  SimWorld() = default;
  explicit SimWorld(env::DiskState state) : disk_(std::move(state)) {}

  base::Result<std::unique_ptr<OpenWorld>> open(JournalOptions options = small_segments()) {
    return open_world(disk_, *random_, "./world", options);
  }
  env::SimDisk& disk() { return disk_; }

 private:
  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(7);
};

class PosixWorld {
 public:
  base::Result<std::unique_ptr<OpenWorld>> open(JournalOptions options = small_segments()) {
    return open_world(*disk_, *random_, path(), options);
  }
  std::string path() const { return folder_.path() + "/world"; }

 private:
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  env::testing::TemporaryFolder folder_;
};

// Records differ by their number, and in length.
inline std::string record_text(RecordNumber number, std::size_t bytes = 0) {
  std::string text = "record " + std::to_string(number) + " ";
  while (text.size() < bytes) text += static_cast<char>('a' + (number + text.size()) % 26);
  return text;
}

// One batch of records of so many bytes each, numbered behind the last; not synced.
inline base::Result<RecordNumber> append_batch(Journal& journal, std::size_t count,
                                               std::size_t bytes = 0, Room room = Room::kNormal) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i)
    texts.push_back(record_text(journal.last() + 1 + i, bytes));
  std::vector<base::ByteView> views;
  for (const std::string& text : texts) views.push_back(base::as_bytes(text));
  return journal.append(views, room);
}

inline base::Result<RecordNumber> commit_batch(Journal& journal, std::size_t count,
                                               std::size_t bytes = 0) {
  TRY(append_batch(journal, count, bytes));
  return journal.sync();
}

// All durable records from `from` on.
inline base::Result<std::vector<std::string>> read_all(Journal& journal, RecordNumber from = 1) {
  auto reader = TRY(journal.read(from));
  std::vector<std::string> texts;
  while (const auto record = TRY(reader->next())) {
    EXPECT_EQ(record->number, from + texts.size());
    texts.emplace_back(base::as_text(record->bytes));
  }
  return texts;
}

}  // namespace holdfast::store::testing
