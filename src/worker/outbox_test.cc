// SPDX-License-Identifier: Apache-2.0
#include "worker/outbox.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "env/crash.h"
#include "env/sim_disk.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

base::Bytes report(std::string_view text) { return {text.begin(), text.end()}; }

std::string text_in(const Outbox& outbox, const std::string& dispatch) {
  const auto found = outbox.held().find(dispatch);
  return found == outbox.held().end() ? "absent" : std::string(base::as_text(found->second));
}

Outbox opened(env::Disk& disk) {
  auto outbox = Outbox::open(disk, "./outbox");
  EXPECT_TRUE(outbox) << outbox.error().to_string();
  return std::move(*outbox);
}

TEST(Outbox, holds_what_was_flushed_after_a_restart_and_forgets_what_was_dropped) {
  env::SimDisk disk;
  {
    Outbox outbox = opened(disk);
    outbox.put("1", report("one"));
    outbox.put("2", report("two"));
    outbox.put("2", report("two again"));
    outbox.put("3", report(""));
    ASSERT_TRUE(outbox.flush());
    outbox.drop("1");
    outbox.drop("not held");
    ASSERT_TRUE(outbox.flush());
    EXPECT_FALSE(outbox.has_unwritten());
  }
  const Outbox outbox = opened(disk);
  EXPECT_EQ(outbox.held().size(), 2u);
  EXPECT_EQ(text_in(outbox, "2"), "two again");
  EXPECT_EQ(text_in(outbox, "3"), "");
  EXPECT_EQ(outbox.held_bytes(), 9u);
  EXPECT_EQ(outbox.recovered().reports, 2u);
  EXPECT_EQ(outbox.recovered().unreadable_bytes, 0u);
}

TEST(Outbox, a_file_of_another_kind_or_of_a_newer_version_is_refused_and_left_as_it_is) {
  for (const std::string_view text : {"", "something else", "holdfast outbox 2\nfuture"}) {
    env::SimDisk disk;
    ASSERT_TRUE(env::replace_file(disk, "./outbox", base::as_bytes(text)));
    const auto outbox = Outbox::open(disk, "./outbox");
    ASSERT_FALSE(outbox) << text;
    EXPECT_EQ(outbox.error().code(), base::ErrorCode::kInvalid);
    const auto left = env::read_file(disk, "./outbox", 1000);
    ASSERT_TRUE(left);
    EXPECT_EQ(base::as_text(*left), text);
  }
}

// What is promised at an operation of the disk: reports that must be there, and all that may be.
struct Promise {
  std::size_t at;
  std::map<std::string, std::string> durable;
};

class OutboxRun {
 public:
  void note(const Outbox& outbox) {
    Promise promise{disk.operations().size(), {}};
    for (const auto& [dispatch, bytes] : outbox.held())
      promise.durable[dispatch] = std::string(base::as_text(bytes));
    promises.push_back(std::move(promise));
  }
  // A workload that appends, drops, replaces, dies and is opened again.
  void play() {
    for (int opening = 0; opening < 3; ++opening) {
      Outbox outbox = opened(disk);
      note(outbox);
      for (int turn = 0; turn < 4; ++turn) {
        const std::string name = std::to_string(opening) + "." + std::to_string(turn);
        const std::string text(static_cast<std::size_t>(turn) * 300 + 1, 'a');
        outbox.put(name, report(text + name));
        ever[name].insert(text + name);
        if (turn == 2) outbox.put(name + "b", report("b"));
        if (turn == 2) ever[name + "b"].insert("b");
        if (turn == 3) {
          outbox.drop(std::to_string(opening) + ".0");
          note_drop(std::to_string(opening) + ".0");
        }
        ASSERT_TRUE(outbox.flush());
        note(outbox);
      }
    }
  }
  // From now on it need not be there.
  void note_drop(const std::string& name) {
    Promise promise = promises.back();
    promise.at = disk.operations().size();
    promise.durable.erase(name);
    promises.push_back(std::move(promise));
  }

  void check(const env::Crash& crash) {
    SCOPED_TRACE(crash.to_string());
    env::SimDisk after(env::after_crash(disk.start(), disk.operations(), crash));
    auto outbox = Outbox::open(after, "./outbox");
    ASSERT_TRUE(outbox) << outbox.error().to_string();
    const Promise* promise = nullptr;
    for (const Promise& each : promises)
      if (each.at <= crash.at) promise = &each;
    if (promise != nullptr) {
      for (const auto& [dispatch, text] : promise->durable)
        ASSERT_EQ(text_in(*outbox, dispatch), text) << "a durable report is lost";
    }
    for (const auto& [dispatch, bytes] : outbox->held())
      ASSERT_TRUE(ever[dispatch].contains(std::string(base::as_text(bytes))))
          << "a report that nobody has put: " << dispatch;
    // It goes on working, and what it holds now survives the worst power cut.
    outbox->put("later", report("later"));
    ASSERT_TRUE(outbox->flush());
    env::Crash worst{.at = after.operations().size()};
    const auto pending = env::pending_operations(after.operations());
    worst.lost.insert(pending.begin(), pending.end());
    env::SimDisk again(env::after_crash(after.start(), after.operations(), worst));
    const auto reopened = Outbox::open(again, "./outbox");
    ASSERT_TRUE(reopened) << reopened.error().to_string();
    ASSERT_EQ(reopened->held(), outbox->held());
  }

  env::SimDisk disk;
  std::vector<Promise> promises;
  std::map<std::string, std::set<std::string>> ever;
};

TEST(Outbox, a_power_cut_at_any_operation_loses_nothing_that_was_flushed) {
  OutboxRun run;
  run.play();
  std::size_t crashes = 0;
  env::for_each_crash(run.disk.operations(), [&](const env::Crash& crash) {
    if (::testing::Test::HasFailure()) return;
    run.check(crash);
    ++crashes;
  });
  EXPECT_GT(crashes, 100u);
}

TEST(Outbox, the_death_of_the_process_at_any_system_call_loses_nothing_that_was_flushed) {
  OutboxRun run;
  run.play();
  for (std::size_t at = 0; at <= run.disk.operations().size(); ++at) {
    run.check({.at = at});  // all that was issued has arrived
    if (::testing::Test::HasFailure()) return;
  }
}

class OutboxFaults : public ::testing::TestWithParam<env::DiskFault> {};

TEST_P(OutboxFaults, a_call_that_fails_loses_nothing_and_the_next_flush_makes_up_for_it) {
  std::uint64_t calls = 1;
  for (std::uint64_t failing = 0; failing < calls; ++failing) {
    SCOPED_TRACE("call " + std::to_string(failing));
    env::SimDisk disk;
    Outbox outbox = opened(disk);
    disk.fail_call(failing, GetParam());
    bool has_failed = false;
    for (int i = 0; i < 3; ++i) {
      outbox.put(std::to_string(i), report("r" + std::to_string(i)));
      if (i == 2) outbox.drop("0");
      if (!outbox.flush()) {
        has_failed = true;
        EXPECT_TRUE(outbox.has_unwritten());
        EXPECT_EQ(text_in(outbox, std::to_string(i)), "r" + std::to_string(i));
        ASSERT_TRUE(outbox.flush()) << "the second flush must succeed: only one call fails";
      }
      // Everything is durable now, also if the power goes.
      env::Crash worst{.at = disk.operations().size()};
      const auto pending = env::pending_operations(disk.operations());
      worst.lost.insert(pending.begin(), pending.end());
      env::SimDisk after(env::after_crash(disk.start(), disk.operations(), worst));
      const auto reopened = Outbox::open(after, "./outbox");
      ASSERT_TRUE(reopened) << reopened.error().to_string();
      for (const auto& [dispatch, bytes] : outbox.held())
        ASSERT_EQ(text_in(*reopened, dispatch), base::as_text(bytes));
    }
    if (failing == 0) {
      // How many calls the run makes is known from one in which nothing fails.
      env::SimDisk whole;
      Outbox plain = opened(whole);
      const std::uint64_t begun = whole.changing_calls();
      for (int i = 0; i < 3; ++i) {
        plain.put(std::to_string(i), report("r" + std::to_string(i)));
        if (i == 2) plain.drop("0");
        ASSERT_TRUE(plain.flush());
      }
      calls = whole.changing_calls() - begun;
    }
    if (GetParam() == env::DiskFault::kIoError) {
      EXPECT_TRUE(has_failed);
    }
  }
  EXPECT_GE(calls, 6u);
}

INSTANTIATE_TEST_SUITE_P(Each, OutboxFaults,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

TEST(Outbox, a_full_disk_keeps_reports_in_memory_until_there_is_room) {
  env::SimDisk disk;
  Outbox outbox = opened(disk);
  disk.set_capacity(64);
  outbox.put("1", report(std::string(1000, 'x')));
  const auto flushed = outbox.flush();
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code(), base::ErrorCode::kUnavailable);
  EXPECT_EQ(text_in(outbox, "1").size(), 1000u);
  EXPECT_TRUE(outbox.has_unwritten());
  EXPECT_FALSE(outbox.flush());
  disk.set_capacity(std::nullopt);
  ASSERT_TRUE(outbox.flush());
  EXPECT_FALSE(outbox.has_unwritten());
  EXPECT_EQ(text_in(opened(disk), "1").size(), 1000u);
}

TEST(Outbox, the_file_stays_small_however_many_reports_go_through_it) {
  env::SimDisk disk;
  Outbox outbox = opened(disk);
  const base::Bytes large(kMiB, 'x');
  std::uint64_t largest = 0;
  for (int i = 0; i < 64; ++i) {
    outbox.put(std::to_string(i), large);
    ASSERT_TRUE(outbox.flush());
    outbox.drop(std::to_string(i));
    const auto file = disk.open("./outbox", env::OpenMode::kRead);
    ASSERT_TRUE(file);
    largest = std::max(largest, *(*file)->size());
  }
  EXPECT_LT(largest, 20 * kMiB);
}

}  // namespace
}  // namespace holdfast::work
