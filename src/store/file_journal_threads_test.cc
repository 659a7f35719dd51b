// SPDX-License-Identifier: Apache-2.0
// One thread appends and trims, one prepares segments, two read along.
#include <atomic>
#include <thread>

#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

constexpr RecordNumber kRecords = 400;

// Reads from the front, and from where the journal begins whenever it was trimmed away.
void follow(Journal& journal, std::atomic<bool>& failed) {
  RecordNumber next = journal.first();
  while (next <= kRecords && !failed) {
    const auto reader = journal.read(next);
    if (!reader) {
      failed = failed || reader.error().code() != base::ErrorCode::kNotFound;
      next = journal.first();
      continue;
    }
    while ((*reader)->cursor() <= kRecords && !failed) {
      const auto record = (*reader)->next();
      if (!record) {
        if (record.error().code() != base::ErrorCode::kNotFound) {
          ADD_FAILURE() << record.error().to_string();
          failed = true;
        }
        break;
      }
      if (!record->has_value()) {
        std::this_thread::yield();
        continue;
      }
      if (base::as_text((*record)->bytes) != record_text((*record)->number, 900)) {
        ADD_FAILURE() << "record " << (*record)->number << " is another";
        failed = true;
      }
    }
    next = (*reader)->cursor();
  }
}

TEST(FileJournal, threads_may_read_and_prepare_while_one_appends) {
  PosixWorld world;
  auto open = *world.open();
  Journal& journal = open->journal();
  std::atomic<bool> failed = false;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    while (!done) {
      if (!journal.prepare()) failed = true;
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { follow(journal, failed); });
  while (journal.durable() < kRecords && !failed) {
    if (!commit_batch(journal, 1, 900)) failed = true;
    if (journal.durable() % 50 == 0 && !journal.trim(journal.durable() - 25)) failed = true;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
  EXPECT_EQ(journal.durable(), kRecords);
}

}  // namespace
}  // namespace holdfast::store::testing
