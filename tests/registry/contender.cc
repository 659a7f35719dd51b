// SPDX-License-Identifier: Apache-2.0
// One of many processes that use a registry at once, until it is told to end (SIGTERM). What it was
// promised it writes down, with the time, so that somebody outside can judge.
//
//   contender registrar DIR LEDGER NAME SEED     leases of a random recipe, for a moment each
//   contender worker DIR LEDGER NAME RECIPE      one preemptible lease; yields, and comes back
//   contender coordinator DIR LEDGER NAME SEED   swaps, finished or aborted
//   contender note DIR LEDGER NAME RECIPE        for the program of a `swap run`: that it runs
//   contender reader DIR LEDGER NAME SEED        reads
//   contender recycler DIR LEDGER NAME PID       leases of processes whose number comes back at
//   once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "holdfast/registry.h"

namespace {

using namespace holdfast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

volatile sig_atomic_t is_over = 0;
void be_over(int) { is_over = 1; }

const std::array<const char*, 3> kRecipes = {"llama", "qwen", "mistral"};

long long now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class Contender {
 public:
  Contender(std::shared_ptr<Registry> registry, const char* ledger, std::string name, unsigned seed)
      : registry_(std::move(registry)),
        ledger_(::open(ledger, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
        name_(std::move(name)),
        choose_(seed) {}

  void register_again_and_again() {
    pause(0, 1'000'000);
    while (is_over == 0) {
      const std::string recipe = kRecipes[choose_() % kRecipes.size()];
      auto lease = registry_->take_lease(
          {.name = name_, .recipe = recipe, .preemptible = choose_() % 5 != 0});
      if (lease) {
        hold(*lease, recipe, now_ns() + static_cast<long long>(choose_() % 50'000'000));
      } else {
        expect_busy("take", lease.error());
      }
      pause(300'000, 1'500'000);
    }
  }

  void work(const std::string& recipe) {
    while (is_over == 0) {
      auto lease = registry_->take_lease({.name = name_, .recipe = recipe, .preemptible = true});
      if (lease) {
        hold(*lease, recipe, now_ns() + 3'600'000'000'000);
      } else {
        expect_busy("take", lease.error());
      }
      pause(1'000, 3'000);
    }
  }

  void swap_again_and_again() {
    while (is_over == 0) {
      const std::string recipe = kRecipes[choose_() % kRecipes.size()];
      auto swap = registry_->begin_swap({.recipe = recipe, .deadline = milliseconds(500)});
      if (swap) {
        write_down("begin " + swap->id() + " " + recipe);
        pause(0, 30'000);
        write_down("end " + swap->id() + " " + recipe);
        const auto ended = choose_() % 4 == 0 ? swap->abort("by chance") : swap->finish();
        if (!ended) expect_busy("end", ended.error());
      } else if (swap.error().code != ErrorCode::kConflict) {
        expect_busy("begin", swap.error());
      }
      pause(20'000, 400'000);
    }
  }

  void note(const std::string& recipe) {
    write_down("begin " + name_ + " " + recipe);
    pause(1'000, 20'000);
    write_down("end " + name_ + " " + recipe);
  }

  void read_again_and_again() {
    long long reads = 0;
    while (is_over == 0) {
      const auto view = registry_->list();
      if (!view) expect_busy("list", view.error());
      ++reads;
      pause(5'000, 50'000);
    }
    write_down("reads " + std::to_string(reads));
  }

  // As the first process of a container, where it can choose the numbers of others. Until a number
  // has come back within the tick in which its first owner began.
  bool recycle(pid_t id) {
    for (int attempt = 1; attempt <= 500; ++attempt) {
      start_process(id);
      auto lease = registry_->take_lease({.name = name_, .recipe = "llama", .pid = id});
      if (!lease) return wrong("take: " + lease.error().message);
      const bool was_live = registry_->list()->workflows[0].standing == LeaseStanding::kLive;
      end_process(id);
      start_process(id);
      const LeaseView left = registry_->list()->workflows[0];
      const bool is_same = left.owner_start_ns == start_ns_of(id);
      const bool renewed = static_cast<bool>(lease->renew());
      end_process(id);
      if (!was_live) return wrong("the owner is not alive");
      if (left.standing != LeaseStanding::kDead) return wrong("the recycled one is the owner");
      if (renewed) return wrong("the recycled one renews");
      if (!lease->release()) return wrong("it cannot be released");
      if (!is_same) continue;
      write_down("recycled " + std::to_string(attempt));
      return true;
    }
    return wrong("no number came back within a tick");
  }

 private:
  static void start_process(pid_t id) {
    std::FILE* const last = std::fopen("/proc/sys/kernel/ns_last_pid", "w");
    if (last == nullptr || std::fprintf(last, "%d", id - 1) < 0 || std::fclose(last) != 0)
      std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    if (child != id) std::abort();
  }
  static void end_process(pid_t id) {
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }
  static std::int64_t start_ns_of(pid_t id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    for (int skipped = 0; skipped < 19; ++skipped) fields >> text;
    std::int64_t ticks = 0;
    fields >> ticks;
    return ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  }
  bool wrong(const std::string& what) {
    write_down("WRONG " + what);
    return false;
  }

  // From here to there it is certain that the lease is held.
  void hold(Lease& lease, const std::string& recipe, long long until) {
    write_down("take " + lease.nonce() + " " + recipe);
    while (is_over == 0 && now_ns() < until) {
      const auto asked = lease.is_preempt_requested();
      if (!asked) expect_busy("poll", asked.error());
      if (asked && *asked) break;
      pause(2'000, 4'000);
    }
    write_down("drop " + lease.nonce() + " " + recipe);
    const auto released = lease.release();
    if (!released) expect_busy("release", released.error());
    if (released && !*released) write_down("WRONG the lease was gone");
  }

  void expect_busy(const char* what, const Error& error) {
    if (error.code != ErrorCode::kUnavailable)
      write_down(std::string("WRONG ") + what + ": " + error.message);
  }

  void write_down(const std::string& what) {
    const std::string line = std::to_string(now_ns()) + " " + name_ + " " + what + "\n";
    if (::write(ledger_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      std::abort();
  }

  void pause(unsigned least_us, unsigned most_us) {
    std::this_thread::sleep_for(microseconds(least_us + choose_() % (most_us - least_us)));
  }

  std::shared_ptr<Registry> registry_;
  const int ledger_;
  const std::string name_;
  std::mt19937 choose_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::string role = argv[1];
  struct sigaction action {};
  action.sa_handler = &be_over;
  if (role != "note") ::sigaction(SIGTERM, &action, nullptr);
  auto registry = Registry::open({.dir = argv[2]});
  if (!registry) return 1;
  Contender contender(*registry, argv[3], argv[4], static_cast<unsigned>(std::atoi(argv[5])));
  if (role == "registrar") contender.register_again_and_again();
  if (role == "worker") contender.work(argv[5]);
  if (role == "note") contender.note(argv[5]);
  if (role == "coordinator") contender.swap_again_and_again();
  if (role == "recycler") return contender.recycle(std::atoi(argv[5])) ? 0 : 1;
  if (role == "reader") contender.read_again_and_again();
  return 0;
}
