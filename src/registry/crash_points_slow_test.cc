// SPDX-License-Identifier: Apache-2.0
// Power cuts and failing calls at every operation of a life with a registry: the file is always
// the old one or the new one, whole; what was acknowledged is there; an orphan is cleared once.
#include <iostream>

#include "env/crash.h"
#include "registry/testing.h"
#include "registry/testing_dying_disk.h"

namespace holdfast::registry {
namespace {

using testing::Actor;
using testing::Machine;
using testing::trouble;

constexpr std::int64_t kSecond = testing::kSecond;

// What the file held after each step, and from which operation on that was promised.
struct Moment {
  std::size_t promised_at;
  std::string text;
};

// Does a bit of everything; `done` hears after each step that succeeded.
void live(Machine& machine, const std::function<void()>& done) {
  Actor job(machine, 50);
  Actor server(machine, 51);
  Actor coordinator(machine, 60);
  const auto step = [&](const auto& result) {
    ASSERT_TRUE(result) << result.error().to_string();
    done();
  };
  step(job.lease("train", "llama", true));
  step(server.lease("serve", "qwen", false, 3600));
  step(renew_lease(job.site(), "train", {}));
  coordinator.while_asleep = [&] {
    done();  // the marker is there
    step(clear_preempt(job.site(), "train", {}));
    step(release_lease(job.site(), "train", {}));
  };
  auto swap = coordinator.swap("qwen", 10 * kSecond);
  step(swap);
  step(job.lease("train", "qwen", true));
  step(swap->finish(coordinator.site()));
  {
    auto second = server.swap("qwen");
    step(second);
    step(second->abort(server.site(), "no"));
    auto third = server.swap("qwen");
    step(third);
    server.die();  // and leaves its marker and its lease
  }
  step(job.lease("train", "llama"));
  step(release_lease(job.site(), "train", {}));
}

TEST(RegistryCrash, every_power_cut_leaves_the_old_file_or_the_new_one_whole) {
  Machine machine;
  std::vector<Moment> moments = {{0, ""}};
  const auto text = [](Machine& of) { return of.file("workflows.json").value_or(""); };
  live(machine, [&] { moments.push_back({machine.disk->operations().size(), text(machine)}); });
  // Also those that nobody was told of: every content that ever had the name.
  std::vector<Moment> contents;
  env::DiskState replayed = machine.disk->start();
  for (std::size_t i = 0; i < machine.disk->operations().size(); ++i) {
    replayed.apply(machine.disk->operations()[i]);
    const auto name = replayed.names.find("./gpu/workflows.json");
    const std::string now = name == replayed.names.end()
                                ? ""
                                : std::string(base::as_text(replayed.files[name->second]));
    if (contents.empty() || contents.back().text != now) contents.push_back({i, now});
  }
  ASSERT_GT(contents.size(), 12u);
  std::uint64_t images = 0;
  std::uint64_t older = 0;
  std::uint64_t orphans = 0;
  env::for_each_crash(machine.disk->operations(), [&](const env::Crash& crash) {
    if (HasFailure()) return;
    SCOPED_TRACE(crash.to_string());
    ++images;
    Machine after(std::make_unique<env::SimDisk>(
        env::after_crash(machine.disk->start(), machine.disk->operations(), crash)));
    after.boot_id = "boot-2";
    const std::string found = text(after);
    std::size_t which = contents.size();
    for (std::size_t i = 0; i < contents.size(); ++i) {
      if (contents[i].text == found) which = i;
    }
    ASSERT_LT(which, contents.size()) << "neither the old file nor a new one:\n" << found;
    // The last that was promised before the cut; what is found is that or a later one.
    std::string promised;
    for (const Moment& moment : moments) {
      if (moment.promised_at <= crash.at) promised = moment.text;
    }
    std::size_t least = contents.size();
    for (std::size_t i = contents.size(); i-- > 0;) {
      if (contents[i].text == promised) least = i;
    }
    ASSERT_LE(least, which) << "what was acknowledged is lost";
    if (which + 1 < contents.size()) ++older;
    // After the power is back everybody is dead, and the registry works at once.
    const bool had_marker = found.find("\"swap_id\"") != std::string::npos;
    const std::size_t lines = after.orphan_lines();
    Actor next(after, 70);
    const auto lease = next.lease("next", "mistral");
    ASSERT_TRUE(lease) << lease.error().to_string();
    EXPECT_EQ(next.live(), "next");
    EXPECT_EQ(list(next.site())->workflows.size(), 1u);
    EXPECT_LE(after.orphan_lines() - lines, had_marker ? 1u : 0u);
    if (had_marker) ++orphans;
    auto swap = next.swap("mistral");
    ASSERT_TRUE(swap) << swap.error().to_string();
    EXPECT_TRUE(swap->finish(next.site()));
  });
  std::cout << "registry: " << images << " images of crashed disks, " << orphans
            << " with an orphan\n";
  EXPECT_GT(images, 500u);
  EXPECT_GT(older, 300u);
  EXPECT_GT(orphans, 100u);
}

// A process that dies, and not the machine: then there are also signals to withdraw.
TEST(RegistryCrash, coordinator_that_dies_at_any_call_leaves_one_line_and_no_signal) {
  std::uint64_t deaths = 0;
  std::uint64_t orphans = 0;
  std::uint64_t signals = 0;
  for (bool done = false; !done; ++deaths) {
    SCOPED_TRACE("dies at call " + std::to_string(deaths));
    ASSERT_LT(deaths, 200u);
    Machine machine;
    const Actor job(machine, 50);
    const Actor other(machine, 51);
    ASSERT_TRUE(job.lease("train", "llama", true));
    ASSERT_TRUE(job.lease("batch", "llama", true));
    testing::DyingDisk disk(*machine.disk);
    Actor coordinator(machine, disk, 60);
    disk.die_after(deaths);
    coordinator.while_asleep = [&] { ASSERT_TRUE(release_lease(job.site(), "train", {})); };
    try {
      EXPECT_FALSE(coordinator.swap("qwen", kSecond)) << "batch does not yield";
      ASSERT_TRUE(*release_lease(job.site(), "batch", {}));
      auto swap = coordinator.swap("qwen");
      ASSERT_TRUE(swap) << swap.error().to_string();
      ASSERT_TRUE(swap->finish(coordinator.site()));
      done = true;
    } catch (const testing::Death&) {
    }
    coordinator.die();
    const bool had_marker = parse_state(*machine.file("workflows.json"))->swap.has_value();
    if (!machine.signals().empty()) ++signals;
    const auto lease = other.lease("next", "llama");
    ASSERT_TRUE(lease) << lease.error().to_string();
    EXPECT_EQ(machine.orphan_lines(), had_marker ? 1u : 0u);
    if (had_marker) ++orphans;
    EXPECT_TRUE(machine.signals().empty());
    auto swap = other.swap("llama");
    ASSERT_TRUE(swap) << swap.error().to_string();
    EXPECT_TRUE(swap->finish(other.site()));
    EXPECT_EQ(machine.orphan_lines(), had_marker ? 1u : 0u);
  }
  std::cout << "registry: " << deaths << " deaths of a coordinator, " << orphans << " orphans, "
            << signals << " with signals\n";
  EXPECT_GT(orphans, 20u);
  EXPECT_GT(signals, 5u);
}

// Whoever clears an orphan may die at it too, and so may the next.
TEST(RegistryCrash, orphan_is_logged_once_however_many_die_at_clearing_it) {
  Machine machine;
  const Actor job(machine, 50);
  ASSERT_TRUE(job.lease("train", "llama", true));
  {
    testing::DyingDisk disk(*machine.disk);
    Actor coordinator(machine, disk, 60);
    coordinator.while_asleep = [] { throw testing::Death(); };
    EXPECT_THROW(static_cast<void>(coordinator.swap("qwen", kSecond).has_value()), testing::Death);
  }
  ASSERT_EQ(machine.signals().size(), 1u);
  std::uint64_t deaths = 0;
  for (bool done = false; !done; ++deaths) {
    ASSERT_LT(deaths, 100u);
    testing::DyingDisk disk(*machine.disk);
    const Actor reader(machine, disk, 70);
    disk.die_after(deaths);
    try {
      EXPECT_EQ(reader.swapping(), "");
      done = true;
    } catch (const testing::Death&) {
    }
    EXPECT_LE(machine.orphan_lines(), 1u);
  }
  EXPECT_GT(deaths, 10u);
  EXPECT_EQ(machine.orphan_lines(), 1u);
  EXPECT_TRUE(machine.signals().empty());
}

class RegistryFaultSweep : public ::testing::TestWithParam<env::DiskFault> {};

// Every call that changes something fails once: whoever is refused tries again, and nothing that
// was acknowledged is lost.
TEST_P(RegistryFaultSweep, what_was_acknowledged_is_there_and_a_second_try_succeeds) {
  std::uint64_t calls = 0;
  for (std::uint64_t call = 0; call == 0 || call <= calls; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    Machine machine;
    Actor job(machine, 50);
    Actor coordinator(machine, 60);
    if (call > 0) machine.disk->fail_call(call - 1, GetParam());
    const auto insist = [&](const char* what, const auto& act) {
      for (int tries = 0; tries < 2; ++tries) {
        const auto done = act();
        if (done) return;
        ASSERT_EQ(done.error().code(), base::ErrorCode::kIo) << what;
      }
      FAIL() << what << " fails twice";
    };
    insist("lease", [&] { return job.lease("train", "llama", true); });
    EXPECT_EQ(job.live(), "train");
    coordinator.while_asleep = [&] {
      insist("release", [&] { return release_lease(job.site(), "train", {}); });
    };
    std::unique_ptr<HeldSwap> held;
    insist("swap", [&]() -> base::Result<void> {
      auto swap = coordinator.swap("qwen", 10 * kSecond);
      if (!swap) return std::move(swap).error();
      held = std::make_unique<HeldSwap>(std::move(*swap));
      return {};
    });
    EXPECT_EQ(job.swapping(), "qwen");
    EXPECT_TRUE(machine.signals().empty());
    const auto finished = held->finish(coordinator.site());
    if (!finished && !held->is_over()) {
      EXPECT_TRUE(held->finish(coordinator.site()));
    }
    EXPECT_EQ(job.swapping(), "");
    EXPECT_LE(machine.orphan_lines(), 1u);
    if (call == 0) calls = machine.disk->changing_calls();
  }
  EXPECT_GT(calls, 20u);
}

INSTANTIATE_TEST_SUITE_P(Each, RegistryFaultSweep,
                         ::testing::Values(env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                           env::DiskFault::kInterrupted, env::DiskFault::kShort));

}  // namespace
}  // namespace holdfast::registry
