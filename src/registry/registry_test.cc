// SPDX-License-Identifier: Apache-2.0
// The public registry, on real files, locks and processes.
#include "holdfast/registry.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/testing.h"
#include "env/posix_disk.h"
#include "env/testing.h"

namespace holdfast {
namespace {

using env::testing::TemporaryFolder;

template <class T>
std::string trouble(const Result<T>& result) {
  return result ? "" : result.error().message;
}

// A child that is to outlive its parent, but not a test that has failed: whoever reads what that
// says would wait for it.
[[noreturn]] void outlive() {
  ::alarm(300);
  for (;;) ::pause();
}

// A forked process that does something, says that it has, and lives until it is killed.
class Other {
 public:
  explicit Other(const std::function<bool()>& act) {
    EXPECT_EQ(::pipe(said_), 0);
    id_ = ::fork();
    if (id_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not longer than the test
      const char byte = act() ? 'y' : 'n';
      if (::write(said_[1], &byte, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(said_[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
  }
  ~Other() {
    kill();
    ::close(said_[0]);
    ::close(said_[1]);
  }
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
  }
  pid_t id() const { return id_; }

 private:
  int said_[2] = {};
  pid_t id_ = -1;
};

struct RegistryTest : ::testing::Test {
  std::shared_ptr<Registry> open() {
    return *Registry::open(
        {.dir = folder.path() + "/a/b/", .lock_timeout = std::chrono::seconds(5)});
  }
  bool exists(const std::string& name) {
    return std::filesystem::exists(folder.path() + "/a/b/" + name);
  }
  std::size_t orphan_lines() {
    std::ifstream log(folder.path() + "/a/b/swap_log.jsonl");
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);)
      if (line.find("orphan_marker_cleared") != std::string::npos) ++count;
    return count;
  }

  TemporaryFolder folder;
  std::shared_ptr<Registry> registry = open();
};

TEST_F(RegistryTest, folder_is_made_when_somebody_first_writes) {
  EXPECT_EQ(registry->dir(), folder.path() + "/a/b");
  ASSERT_TRUE(registry->list());
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/a"));
  auto lease = registry->take_lease({.name = "train", .recipe = "llama"});
  ASSERT_TRUE(lease) << trouble(lease);
  EXPECT_TRUE(exists("workflows.json"));
  EXPECT_TRUE(*lease->release());
  EXPECT_FALSE(*lease->release());
  EXPECT_FALSE(Registry::open({.dir = ""}));
}

TEST_F(RegistryTest, what_one_registry_writes_another_reads) {
  auto lease = registry->take_lease(
      {.name = "train", .recipe = "llama", .ttl = std::chrono::seconds(7), .preemptible = true});
  ASSERT_TRUE(lease) << trouble(lease);
  const auto view = open()->list();
  ASSERT_TRUE(view) << trouble(view);
  ASSERT_EQ(view->workflows.size(), 1u);
  const LeaseView& seen = view->workflows[0];
  EXPECT_EQ(seen.name, "train");
  EXPECT_EQ(seen.recipe, "llama");
  EXPECT_EQ(seen.owner_pid, ::getpid());
  EXPECT_GT(seen.owner_start_ns, 0);
  EXPECT_EQ(seen.nonce, lease->nonce());
  EXPECT_EQ(seen.ttl, std::chrono::seconds(7));
  EXPECT_EQ(seen.signal_path, lease->signal_path());
  EXPECT_EQ(seen.standing, LeaseStanding::kLive);
  EXPECT_TRUE(lease->renew());
}

TEST_F(RegistryTest, lease_ends_with_its_owner) {
  Other other([&] { return bool(registry->take_lease({.name = "train", .recipe = "llama"})); });
  ASSERT_EQ(registry->list()->workflows.size(), 1u);
  EXPECT_EQ(registry->list()->workflows[0].standing, LeaseStanding::kLive);
  EXPECT_EQ(registry->take_lease({.name = "train", .recipe = "llama"}).error().code,
            ErrorCode::kConflict);
  other.kill();
  EXPECT_EQ(registry->list()->workflows[0].standing, LeaseStanding::kDead);
  EXPECT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
}

TEST_F(RegistryTest, lease_may_be_taken_on_behalf_of_another_process) {
  Other other([] { return true; });
  auto lease = registry->take_lease({.name = "train", .recipe = "llama", .pid = other.id()});
  ASSERT_TRUE(lease) << trouble(lease);
  EXPECT_TRUE(lease->renew());
  EXPECT_EQ(registry->renew("train", {}).error().code, ErrorCode::kConflict);
  other.kill();
  EXPECT_EQ(lease->renew().error().code, ErrorCode::kConflict);
  EXPECT_EQ(registry->list()->workflows[0].standing, LeaseStanding::kDead);
  EXPECT_TRUE(*lease->release()) << "by the one who took it";
}

TEST_F(RegistryTest, preemption_is_a_file_that_is_there) {
  auto lease = registry->take_lease({.name = "train", .recipe = "llama", .preemptible = true});
  ASSERT_TRUE(lease);
  EXPECT_FALSE(*lease->is_preempt_requested());
  ASSERT_TRUE(open()->request_preempt("train"));
  EXPECT_TRUE(std::filesystem::exists(lease->signal_path()));
  EXPECT_TRUE(*lease->is_preempt_requested());
  EXPECT_TRUE(*registry->is_preempt_requested("train"));
  EXPECT_TRUE(*lease->clear_preempt());
  EXPECT_FALSE(std::filesystem::exists(lease->signal_path()));
  EXPECT_FALSE(*lease->is_preempt_requested());
}

TEST_F(RegistryTest, swap_keeps_contrary_leases_out_until_it_is_over) {
  auto swap = registry->begin_swap({.recipe = "qwen"});
  ASSERT_TRUE(swap) << trouble(swap);
  EXPECT_EQ(registry->list()->swap->id, swap->id());
  EXPECT_EQ(registry->take_lease({.name = "train", .recipe = "llama"}).error().code,
            ErrorCode::kUnavailable);
  EXPECT_TRUE(registry->take_lease({.name = "serve", .recipe = "qwen"}));
  EXPECT_EQ(registry->begin_swap({.recipe = "qwen"}).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(swap->finish());
  EXPECT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
  EXPECT_EQ(orphan_lines(), 0u);
}

// Opening one waits until there is somebody at its other end.
TEST_F(RegistryTest, fifo_in_the_folder_is_refused_and_not_waited_for) {
  ASSERT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
  for (const std::string name : {"workflows.json", ".workflows.lock", ".swap.lock"}) {
    const std::string path = folder.path() + "/a/b/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto swap = registry->begin_swap({.recipe = "qwen"});
    EXPECT_NE(trouble(swap).find(name + ": is not a regular file"), std::string::npos)
        << trouble(swap);
    std::filesystem::remove(path);
  }
  EXPECT_TRUE(registry->begin_swap({.recipe = "qwen"}));
}

TEST_F(RegistryTest, swap_that_is_let_go_is_aborted) {
  {
    auto swap = registry->begin_swap({.recipe = "qwen"});
    ASSERT_TRUE(swap);
  }
  EXPECT_FALSE(registry->list()->swap);
  EXPECT_EQ(orphan_lines(), 0u);
}

TEST_F(RegistryTest, killed_coordinator_is_in_nobodys_way) {
  std::shared_ptr<Registry> theirs = open();
  Other coordinator([&] {
    static auto swap = theirs->begin_swap({.recipe = "qwen"});
    return bool(swap);
  });
  EXPECT_EQ(registry->take_lease({.name = "train", .recipe = "llama"}).error().code,
            ErrorCode::kUnavailable);
  coordinator.kill();
  EXPECT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
  EXPECT_EQ(orphan_lines(), 1u);
  EXPECT_TRUE(registry->begin_swap({.recipe = "llama"}));
}

// The child has all descriptors of its parent, and outlives it.
// Nobody else could go on until somebody repairs the log.
TEST_F(RegistryTest, killed_coordinator_is_in_nobodys_way_although_the_log_cannot_be_used) {
  const std::string log = folder.path() + "/a/b/swap_log.jsonl";
  const std::vector<std::function<void()>> breaks = {
      [&] { std::filesystem::create_directory(log); },
      [&] { std::filesystem::create_symlink(folder.path() + "/no/such/folder/log", log); },
      [&] { std::filesystem::create_symlink(log, log); },
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    {
      Other coordinator([&] {
        static auto swap = registry->begin_swap({.recipe = "qwen"});
        return static_cast<bool>(swap);
      });
      ASSERT_TRUE(std::filesystem::remove(log));
      breaks[i]();
      EXPECT_EQ(registry->list()->swap->recipe, "qwen");
    }
    const auto found = registry->diagnose();
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::any_of(found->begin(), found->end(), [&](const auto& finding) {
      return finding.place == log && finding.problem.starts_with("cannot be used");
    })) << i;
    const auto listed = registry->list();
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_FALSE(listed->swap);
    auto lease = registry->take_lease({.name = "train", .recipe = "llama"});
    ASSERT_TRUE(lease);
    EXPECT_TRUE(lease->release());
    EXPECT_EQ(orphan_lines(), 1u) << "in the new log";
    EXPECT_NE(base::testing::file_text(log).find("\"log_set_aside\""), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path() + "/a/b/swap_log.broken-" +
                                            std::to_string(i + 1) + ".jsonl") ||
                i == 0);
    const auto after = registry->diagnose();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->size(), i + 1) << "the logs that were set aside";
  }
}

TEST_F(RegistryTest, when_nothing_can_be_set_aside_any_more_only_the_log_is_missing) {
  const std::string log = folder.path() + "/a/b/swap_log.jsonl";
  {
    Other coordinator([&] {
      static auto swap = registry->begin_swap({.recipe = "qwen"});
      return static_cast<bool>(swap);
    });
    ASSERT_TRUE(std::filesystem::remove(log));
    ASSERT_TRUE(std::filesystem::create_directory(log));
    for (int n = 1; n <= 9; ++n)
      std::ofstream(folder.path() + "/a/b/swap_log.broken-" + std::to_string(n) + ".jsonl");
  }
  const auto listed = registry->list();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_FALSE(listed->swap);
  const auto swap = registry->begin_swap({.recipe = "llama"});
  ASSERT_FALSE(swap);
  EXPECT_NE(swap.error().message.find("9 logs have been set aside already"), std::string::npos)
      << swap.error().message;
}

TEST_F(RegistryTest, forked_child_does_not_keep_a_dead_holder_alive) {
  int child_id[2];
  ASSERT_EQ(::pipe(child_id), 0);
  pid_t child = -1;
  {
    Other coordinator([&] {
      static auto swap = registry->begin_swap({.recipe = "qwen"});
      static auto lease = registry->take_lease({.name = "serve", .recipe = "qwen"});
      const pid_t id = ::fork();
      if (id == 0) outlive();
      return swap && lease && ::write(child_id[1], &id, sizeof id) == sizeof id;
    });
    ASSERT_EQ(::read(child_id[0], &child, sizeof child), ssize_t{sizeof child});
    EXPECT_EQ(registry->list()->swap->recipe, "qwen");
  }
  // The coordinator is dead, and its lock is not free.
  EXPECT_FALSE(registry->list()->swap);
  EXPECT_EQ(registry->list()->workflows[0].standing, LeaseStanding::kDead);
  EXPECT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
  EXPECT_EQ(orphan_lines(), 1u);
  const auto busy = registry->begin_swap({.recipe = "llama"});
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(busy.error().message.find("child of a dead coordinator"), std::string::npos);
  const auto findings = registry->diagnose();
  ASSERT_TRUE(findings);
  ASSERT_EQ(findings->size(), 1u);
  EXPECT_TRUE((*findings)[0].needs_somebody);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  for (int i = 0; i < 12'000 && !registry->begin_swap({.recipe = "llama"}); ++i) ::usleep(10'000);
  EXPECT_TRUE(registry->begin_swap({.recipe = "llama"}));
  ::close(child_id[0]);
  ::close(child_id[1]);
}

// Who dies while it changes something has the registry's lock. A child that was forked just then,
// by another thread, and runs no other program, keeps it.
TEST_F(RegistryTest, forked_child_of_one_that_died_inside_a_change_is_named_and_waited_for) {
  registry = *Registry::open(
      {.dir = folder.path() + "/a/b", .lock_timeout = std::chrono::milliseconds(100)});
  ASSERT_TRUE(registry->take_lease({.name = "serve", .recipe = "qwen"}));
  int child_id[2];
  ASSERT_EQ(::pipe(child_id), 0);
  pid_t child = -1;
  pid_t dead = -1;
  {
    Other changing([&] {
      static const auto disk = env::posix_disk();
      static auto lock =
          disk->lock(registry->dir() + "/.workflows.lock", "process " + std::to_string(::getpid()));
      const pid_t id = ::fork();
      if (id == 0) outlive();
      return lock && ::write(child_id[1], &id, sizeof id) == sizeof id;
    });
    dead = changing.id();
    ASSERT_EQ(::read(child_id[0], &child, sizeof child), ssize_t{sizeof child});
  }
  const auto refused = registry->take_lease({.name = "train", .recipe = "qwen"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << "and not for ever";
  EXPECT_NE(refused.error().message.find("process " + std::to_string(dead)), std::string::npos);
  EXPECT_EQ(registry->list()->workflows.size(), 1u) << "who reads does not need it";
  const auto findings = registry->diagnose();
  ASSERT_TRUE(findings) << trouble(findings);
  ASSERT_EQ(findings->size(), 1u);
  EXPECT_TRUE((*findings)[0].needs_somebody);
  EXPECT_NE((*findings)[0].remedy.find("child"), std::string::npos);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  const auto taken = [&] { return registry->take_lease({.name = "train", .recipe = "qwen"}); };
  for (int i = 0; i < 12'000 && !taken(); ++i) ::usleep(10'000);
  EXPECT_TRUE(taken());
  EXPECT_TRUE(registry->diagnose()->empty());
  ::close(child_id[0]);
  ::close(child_id[1]);
}

TEST_F(RegistryTest, forked_child_does_not_keep_the_lock_of_a_finished_swap) {
  auto swap = registry->begin_swap({.recipe = "qwen"});
  ASSERT_TRUE(swap);
  Other child([] { return true; });
  ASSERT_TRUE(swap->finish());
  EXPECT_TRUE(registry->begin_swap({.recipe = "llama"}));
}

TEST_F(RegistryTest, forked_child_that_ends_does_not_end_the_swap_of_its_parent) {
  auto swap = std::make_optional(registry->begin_swap({.recipe = "qwen"}));
  ASSERT_TRUE(*swap);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = !(*swap)->finish();
    swap.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(registry->list()->swap);
  EXPECT_FALSE(registry->take_lease({.name = "train", .recipe = "llama"}));
  EXPECT_TRUE((*swap)->finish());
}

TEST_F(RegistryTest, deadline_that_is_for_ever_is_no_deadline_in_the_past) {
  auto swap =
      registry->begin_swap({.recipe = "qwen", .deadline = std::chrono::milliseconds::max()});
  ASSERT_TRUE(swap) << swap.error().message;
  EXPECT_TRUE(swap->finish());
}

TEST_F(RegistryTest, reader_needs_no_right_to_write) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  auto swap = registry->begin_swap({.recipe = "qwen"});
  ASSERT_TRUE(swap);
  ASSERT_TRUE(registry->take_lease({.name = "serve", .recipe = "qwen"}));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const Other reader([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return false;
    const auto view = registry->list();
    if (!view || !view->swap || view->workflows.size() != 1) return false;
    return !registry->take_lease({.name = "mine", .recipe = "qwen"});
  });
  EXPECT_TRUE(swap->finish());
}

TEST_F(RegistryTest, damaged_file_is_told_and_copied) {
  ASSERT_TRUE(registry->take_lease({.name = "train", .recipe = "llama"}));
  std::ofstream(folder.path() + "/a/b/workflows.json") << "{\"workflows\": [";
  EXPECT_EQ(registry->list().error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(registry->take_lease({.name = "x", .recipe = "llama"}).error().code,
            ErrorCode::kCorrupt);
  std::size_t copies = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path() + "/a/b"))
    if (each.path().string().find(".corrupt-") != std::string::npos) ++copies;
  EXPECT_EQ(copies, 1u);
}

}  // namespace
}  // namespace holdfast
