// SPDX-License-Identifier: Apache-2.0
// Many at once, in one process, on real files and locks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "env/testing.h"
#include "holdfast/registry.h"

namespace holdfast {
namespace {

constexpr int kThreads = 8;

struct RegistryThreads : ::testing::Test {
  std::size_t orphan_lines() {
    std::ifstream log(folder.path() + "/swap_log.jsonl");
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);) {
      if (line.find("orphan_marker_cleared") != std::string::npos) ++count;
    }
    return count;
  }
  template <class Work>
  void at_once(Work work) {
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        work(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  env::testing::TemporaryFolder folder;
  // Who waits for its turn does so however slow the machine is.
  std::shared_ptr<Registry> registry =
      *Registry::open({.dir = folder.path(), .lock_timeout = std::chrono::minutes(10)});
};

TEST_F(RegistryThreads, many_who_race_log_one_line) {
  for (std::size_t round = 1; round <= 10; ++round) {
    const pid_t coordinator = ::fork();
    if (coordinator == 0) {
      // It dies with the marker there, as a killed one does.
      const auto swap = registry->begin_swap({.recipe = "qwen"});
      ::_exit(swap ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(coordinator, &status, 0), coordinator);
    ASSERT_EQ(status, 0);
    std::atomic<int> trouble = 0;
    at_once([&](int i) {
      if (i % 2 == 0) {
        const auto view = registry->list();
        if (!view || view->swap) ++trouble;
      } else {
        const std::string name = "job-" + std::to_string(i);
        if (!registry->take_lease({.name = name, .recipe = "llama", .preemptible = true}))
          ++trouble;
        if (!registry->release(name, {})) ++trouble;
      }
    });
    EXPECT_EQ(trouble, 0);
    ASSERT_EQ(orphan_lines(), round);
  }
}

TEST_F(RegistryThreads, of_many_who_begin_one_swaps) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> inside = 0;
    std::atomic<int> done = 0;
    std::atomic<int> trouble = 0;
    at_once([&](int) {
      for (;;) {
        auto swap = registry->begin_swap({.recipe = "qwen"});
        if (!swap) {
          if (swap.error().code != ErrorCode::kUnavailable) ++trouble;
          continue;
        }
        if (++inside != 1) ++trouble;
        if (!registry->list()->swap) ++trouble;
        --inside;
        if (!swap->finish()) ++trouble;
        ++done;
        return;
      }
    });
    EXPECT_EQ(trouble, 0);
    EXPECT_EQ(done, kThreads);
  }
  EXPECT_EQ(orphan_lines(), 0u);
}

TEST_F(RegistryThreads, every_lease_of_many_is_there) {
  at_once([&](int i) {
    for (int n = 0; n < 5; ++n) {
      EXPECT_TRUE(registry->take_lease(
          {.name = std::to_string(i) + "-" + std::to_string(n), .recipe = "llama"}));
    }
  });
  EXPECT_EQ(registry->list()->workflows.size(), std::size_t{5} * kThreads);
}

}  // namespace
}  // namespace holdfast
