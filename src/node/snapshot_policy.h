// SPDX-License-Identifier: Apache-2.0
// When a snapshot is taken. It costs about the same however much has happened since the last one,
// so that few of them cost little; but what has happened since is replayed when the world is
// opened.
//
// With a share of the time, a snapshot is due
//  - after `every` records, if the last one took at most `share` of the time since it began;
//  - before that, when replaying would take a third of `replay_bound_ns`: the second third is for
//    what comes while it is written, the last one for what comes until it is listed;
//  - after `idle_every` records, when the world is idle: what is in a snapshot leaves memory.
// A world that would take longer than the bound to replay rests until the next one is listed.
// Without a share, a snapshot is due after `every` records.
//
// Replaying takes less time than reducing took, which is what is measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::node {

struct SnapshotPolicy {
  std::uint64_t every = 200'000;     // records; 0: no snapshots are taken
  double share = 0;                  // of the time
  std::int64_t replay_bound_ns = 0;  // 0: none
  std::uint64_t idle_every = 0;      // records; 0: an idle world takes none
};

// What replaying a record takes, about, where nothing was measured.
inline constexpr std::int64_t kReplayNs = 2'500;

// For one loop. It does not look at a clock itself.
class SnapshotTiming {
 public:
  // `behind`: the records since the last snapshot.
  SnapshotTiming(const SnapshotPolicy& policy, std::uint64_t behind, std::int64_t now_ns)
      : policy_(policy),
        records_(behind),
        reduced_ns_(static_cast<std::int64_t>(behind) * kReplayNs),
        unlisted_ns_(reduced_ns_),
        begun_ns_(now_ns),
        now_ns_(now_ns) {}

  // So many records were reduced, in this time.
  void reduced(std::size_t records, std::int64_t took_ns, std::int64_t now_ns) noexcept {
    records_ += records;
    reduced_ns_ += took_ns;
    unlisted_ns_ += took_ns;
    now_ns_ = now_ns;
  }

  // The world is idle.
  void rested() noexcept { is_idle_ = true; }

  // Something was done for a snapshot, by any thread.
  void add_cost(std::int64_t ns) noexcept { cost_ns_ += ns; }

  // A snapshot begins, or is put off; then it is listed.
  void begun(std::int64_t now_ns) noexcept {
    begun_ns_ = now_ns_ = now_ns;
    records_ = 0;
    reduced_ns_ = 0;
    is_idle_ = false;
  }
  void listed() noexcept {
    unlisted_ns_ = reduced_ns_;
    last_cost_ns_ = cost_ns_;
    cost_ns_ = 0;
  }

  bool is_due() const noexcept {
    if (policy_.every == 0) return false;
    if (policy_.share == 0) return records_ >= policy_.every;
    return (records_ >= policy_.every && has_paid_off()) ||
           (policy_.replay_bound_ns != 0 && reduced_ns_ >= policy_.replay_bound_ns / 3) ||
           (is_idle_ && policy_.idle_every != 0 && records_ >= policy_.idle_every);
  }

  // The snapshot that is being finished must be listed before anything else is reduced.
  bool is_late() const noexcept { return is_beyond(1); }
  // And before people can intervene.
  bool is_far_too_late() const noexcept { return is_beyond(2); }
  // The snapshot that is due must begin before anything else is reduced.
  bool is_overdue() const noexcept { return policy_.share != 0 && is_beyond(1); }

  // What a restart would take to replay, about.
  std::uint64_t replay_ns() const noexcept { return static_cast<std::uint64_t>(unlisted_ns_); }

 private:
  bool has_paid_off() const noexcept {
    return static_cast<double>(now_ns_ - begun_ns_) * policy_.share >=
           static_cast<double>(last_cost_ns_);
  }
  bool is_beyond(int times) const noexcept {
    if (policy_.every == 0) return false;
    if (policy_.share == 0) return records_ >= static_cast<std::uint64_t>(times) * policy_.every;
    return policy_.replay_bound_ns != 0 && unlisted_ns_ >= times * policy_.replay_bound_ns;
  }

  SnapshotPolicy policy_;
  std::uint64_t records_;     // since the last one began
  std::int64_t reduced_ns_;   // what they took
  std::int64_t unlisted_ns_;  // the same since the last one that is listed
  std::int64_t cost_ns_ = 0;  // of the one that is next, or being finished
  std::int64_t last_cost_ns_ = 0;
  std::int64_t begun_ns_;
  std::int64_t now_ns_;
  bool is_idle_ = false;
};

}  // namespace holdfast::node
