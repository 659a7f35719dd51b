// SPDX-License-Identifier: Apache-2.0
// A workload on a simulated disk, chosen by a seed, that keeps account of what was promised at
// which operation; and the check that a disk after a crash keeps every promise. For tests only.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "env/crash.h"
#include "store/testing.h"
#include "store/testing_faults.h"

namespace holdfast::store::testing {

// Of the rare things, how many happened: a test that never sees them shows nothing.
struct Sightings {
  std::uint64_t images = 0;
  std::uint64_t torn = 0;
  std::uint64_t copied = 0;
  std::uint64_t clean = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t in_recovery = 0;
};

class CrashWorkload {
 public:
  explicit CrashWorkload(std::uint64_t seed) : seed_(seed), choose_(seed) {}

  // Up to so many writes, in several openings; some are closed and some die.
  void run(std::size_t writes) {
    while (writes_so_far() < writes) {
      auto world = sim_.open();
      ASSERT_TRUE(world) << world.error().to_string();
      note((*world)->journal());
      const std::size_t stop = writes_so_far() + 3 + choose_() % writes;
      while (writes_so_far() < std::min(stop, writes)) step((*world)->journal());
      end((*world)->journal());
    }
  }

  const std::vector<env::DiskOperation>& operations() { return sim_.disk().operations(); }

  // Opens what the crash left, reads everything, and looks whether it is as it must be; then
  // cuts the power once more, at once: what recovery showed must be there still.
  void check(const env::Crash& crash, Sightings& seen) {
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", " + crash.to_string());
    SimWorld after(env::after_crash(sim_.disk().start(), operations(), crash));
    const Promise promise = promise_at(crash.at);
    const Promise shown = open_and_check(after, promise, &seen);
    if (::testing::Test::HasFailure()) return;
    check_again(after, worst_cut(after.disk()), shown);
    if (seen.images % 100 == 0) check_cuts_in_recovery(after, promise, seen);
  }

  std::uint64_t seed() const { return seed_; }

 private:
  struct Promise {
    std::size_t at = 0;  // from this operation on
    RecordNumber durable = 0;
    std::uint64_t epoch = 0;
    RecordNumber trim_below = 1;
  };

  // Gives what the opening promised in its turn.
  Promise open_and_check(SimWorld& after, Promise promise, Sightings* seen) {
    auto world = after.open();
    if (!world) {
      ADD_FAILURE() << world.error().to_string();
      return promise;
    }
    if (seen != nullptr) count(**world, *seen);
    check_promise((*world)->journal(), promise);
    promise.durable = (*world)->journal().durable();
    promise.epoch = (*world)->journal().epoch();
    return promise;
  }

  void check_again(SimWorld& before, const env::Crash& crash, const Promise& promise) {
    SCOPED_TRACE("then " + crash.to_string());
    SimWorld after(env::after_crash(before.disk().start(), before.disk().operations(), crash));
    open_and_check(after, promise, nullptr);
  }

  // The power is cut while the opening after the first cut does its work.
  void check_cuts_in_recovery(SimWorld& recovered, const Promise& promise, Sightings& seen) {
    env::for_each_crash(recovered.disk().operations(), [&](const env::Crash& crash) {
      if (::testing::Test::HasFailure()) return;
      check_again(recovered, crash, promise);
      ++seen.in_recovery;
    });
  }

  std::size_t writes_so_far() {
    return static_cast<std::size_t>(
        std::ranges::count(operations(), env::DiskOperation::Kind::kWrite,
                           [](const env::DiskOperation& operation) { return operation.kind; }));
  }

  std::size_t record_bytes(RecordNumber number) const {
    return (number * 2654435761u + seed_ * 97) % 2500;
  }

  void step(Journal& journal) {
    switch (choose_() % 10) {
      case 0: ASSERT_TRUE(journal.mark()); break;
      case 1: ASSERT_TRUE(journal.prepare()); break;
      case 2:
        trim_below_ = std::max(trim_below_, journal.durable() / 2);
        note(journal);  // a trim that was begun may have been done
        ASSERT_TRUE(journal.trim(trim_below_));
        break;
      default:
        append(journal);
        ASSERT_TRUE(journal.sync());
        note(journal);
    }
  }

  // In order, or by death; then also between a write and its sync, so that the next opening finds
  // what may be in memory only.
  void end(Journal& journal) {
    switch (choose_() % 3) {
      case 0:
        ASSERT_TRUE(journal.close());
        note(journal);
        break;
      case 1: append(journal); break;
      default: break;
    }
  }

  void append(Journal& journal) {
    std::vector<std::string> texts;
    const std::size_t count = 1 + choose_() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const RecordNumber number = journal.last() + 1 + i;
      texts.push_back(record_text(number, record_bytes(number)));
    }
    std::vector<base::ByteView> views;
    for (const std::string& text : texts) views.push_back(base::as_bytes(text));
    ASSERT_TRUE(journal.append(views));
    appended_ = std::max(appended_, journal.last());
  }

  void note(Journal& journal) {
    promises_.push_back({operations().size(), journal.durable(), journal.epoch(), trim_below_});
  }

  Promise promise_at(std::size_t operation) const {
    Promise promise;
    for (const Promise& each : promises_) {
      if (each.at <= operation) promise = each;
    }
    return promise;
  }

  void check_promise(Journal& journal, const Promise& promise) {
    EXPECT_GE(journal.durable(), promise.durable) << "an acknowledged record is lost";
    EXPECT_LE(journal.durable(), appended_);
    EXPECT_GT(journal.epoch(), promise.epoch);
    EXPECT_LE(journal.first(), std::max<RecordNumber>(promise.trim_below, 1));
    const auto records = read_all(journal, journal.first());
    ASSERT_TRUE(records) << records.error().to_string();
    ASSERT_EQ(records->size(), journal.durable() + 1 - journal.first());
    for (std::size_t i = 0; i < records->size(); ++i) {
      const RecordNumber number = journal.first() + i;
      ASSERT_EQ((*records)[i], record_text(number, record_bytes(number)));
    }
  }

  static void count(OpenWorld& world, Sightings& seen) {
    ++seen.images;
    if (world.report().torn) ++seen.torn;
    if (world.report().copied_records > 0) ++seen.copied;
    if (world.report().was_clean) ++seen.clean;
    if (world.journal().first() > 1) ++seen.trimmed;
  }

  const std::uint64_t seed_;
  std::mt19937_64 choose_;
  SimWorld sim_;
  std::vector<Promise> promises_;
  RecordNumber appended_ = 0;
  RecordNumber trim_below_ = 1;
};

}  // namespace holdfast::store::testing
