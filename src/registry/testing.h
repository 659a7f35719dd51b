// SPDX-License-Identifier: Apache-2.0
// A machine that is not there, and processes on it that use a registry. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/sim_disk.h"
#include "registry/leases.h"
#include "registry/list.h"
#include "registry/session.h"
#include "registry/state_cache.h"
#include "registry/swaps.h"

namespace holdfast::registry::testing {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr const char* kFolder = "./gpu";

class FakeProcessTable : public env::ProcessTable {
 public:
  base::Result<std::optional<env::ProcessFacts>> find(std::int64_t id) override {
    const auto found = processes.find(id);
    if (found == processes.end()) return std::optional<env::ProcessFacts>();
    return std::optional(found->second);
  }
  base::Result<std::optional<env::ProcessFacts>> find_mark(std::int64_t id) override {
    return find(id);
  }
  std::string id_space() override { return space; }

  std::map<std::int64_t, env::ProcessFacts> processes;
  std::string space = "pid:[1]";
};

class FakeProcess : public env::Process {
 public:
  FakeProcess(std::int64_t id, const std::string& boot_id) : id_(id), boot_id_(boot_id) {}
  std::int64_t id() override { return id_; }
  std::string host_name() override { return "gpu-1"; }
  std::string boot_id() override { return boot_id_; }

 private:
  const std::int64_t id_;
  const std::string& boot_id_;
};

struct Machine {
  Machine() : Machine(std::make_unique<env::SimDisk>()) {}
  explicit Machine(std::unique_ptr<env::SimDisk> with) : disk(std::move(with)) {
    clock.advance_ns(1000 * kSecond);
    clock.set_wall_ns(1'767'000'000 * kSecond);
  }

  // What it reads like, from outside of the registry.
  std::optional<std::string> file(const std::string& name) {
    const auto bytes = env::read_file(*disk, kFolder + ("/" + name), std::size_t{64} << 20);
    if (!bytes) return std::nullopt;
    return std::string(base::as_text(*bytes));
  }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(disk->make_directory(kFolder));
    ASSERT_TRUE(env::replace_file(*disk, kFolder + ("/" + name), base::as_bytes(text)));
  }
  std::vector<std::string> names() {
    const auto names = disk->list(kFolder);
    return names ? *names : std::vector<std::string>();
  }
  std::vector<std::string> signals() {
    std::vector<std::string> found = names();
    std::erase_if(found, [](const std::string& name) { return !name.starts_with("preempt-"); });
    return found;
  }
  std::size_t lines_with(const std::string& text) {
    const std::string log = file("swap_log.jsonl").value_or("");
    std::size_t count = 0;
    for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1))
      ++count;
    return count;
  }
  std::size_t orphan_lines() { return lines_with("\"orphan_marker_cleared\""); }

  std::unique_ptr<env::SimDisk> disk;
  env::ManualClock clock;
  FakeProcessTable table;
  std::string boot_id = "boot-1";
};

// A process with a registry. What happens elsewhere while it sleeps is up to the test.
class Actor {
 public:
  Actor(Machine& machine, std::int64_t pid, std::int64_t start_ticks = 0)
      : Actor(machine, *machine.disk, pid, start_ticks) {}
  Actor(Machine& machine, env::Disk& disk, std::int64_t pid, std::int64_t start_ticks = 0)
      : machine_(machine),
        pid_(pid),
        random_(env::seeded_random(static_cast<std::uint64_t>(pid) * 1000 + next_inode_)),
        process_(pid, machine.boot_id),
        site_{.host = {disk, machine.clock, *random_, process_, machine.table,
                       [this](std::int64_t ns) {
                         machine_.clock.advance_ns(ns);
                         if (while_asleep) while_asleep();
                       }},
              .place = {kFolder},
              .cache = &cache_} {
    machine.table.processes[pid] = {.start_ns = (start_ticks == 0 ? pid : start_ticks) * 10'000'000,
                                    .pidfd_inode = next_inode_++};
  }
  ~Actor() { die(); }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  void die() {
    if (std::exchange(is_dead_, true)) return;
    machine_.table.processes.erase(pid_);
  }

  const Site& site() const { return site_; }
  Site& site() { return site_; }
  std::int64_t pid() const { return pid_; }

  base::Result<Workflow> lease(const std::string& name, const std::string& recipe,
                               bool preemptible = false, std::int64_t ttl_seconds = 60) const {
    return add_lease(
        site_,
        {.name = name, .recipe = recipe, .ttl_seconds = ttl_seconds, .preemptible = preemptible});
  }
  base::Result<HeldSwap> swap(const std::string& recipe, std::int64_t deadline_ns = 0) const {
    return begin_swap(site_, {.recipe = recipe, .deadline_ns = deadline_ns});
  }
  // "a b" of the live ones; an error is a failure of the test.
  std::string live() const {
    const auto listing = list(site_);
    EXPECT_TRUE(listing) << (listing ? "" : listing.error().to_string());
    std::string names;
    if (!listing) return "?";
    for (const Listed& each : listing->workflows) {
      if (each.standing != Standing::kLive) continue;
      names += (names.empty() ? "" : " ") + each.workflow.name;
    }
    return names;
  }
  // The recipe of the swap under way.
  std::string swapping() const {
    const auto listing = list(site_);
    EXPECT_TRUE(listing) << (listing ? "" : listing.error().to_string());
    return listing && listing->swap ? listing->swap->recipe : "";
  }

  std::function<void()> while_asleep;

 private:
  static inline std::uint64_t next_inode_ = 100;

  Machine& machine_;
  const std::int64_t pid_;
  std::unique_ptr<env::Random> random_;
  FakeProcess process_;
  StateCache cache_;
  Site site_;
  bool is_dead_ = false;
};

// What went wrong, or "".
template <class T>
std::string trouble(const base::Result<T>& result) {
  return result ? "" : result.error().to_string();
}

template <class T>
base::ErrorCode code(const base::Result<T>& result) {
  EXPECT_FALSE(result) << "nothing was refused";
  return result ? base::ErrorCode::kInvalid : result.error().code();
}

}  // namespace holdfast::registry::testing
