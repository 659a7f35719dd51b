// SPDX-License-Identifier: Apache-2.0
#include "node/rehearsal.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "codec/buffer.h"
#include "kernel/forget_list.h"
#include "kernel/limits.h"
#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

kernel::Tick tick_of(const kernel::World& world, decltype(kernel::Tick::input) input) {
  kernel::Tick tick;
  tick.time_ns = world.latest_ns();
  tick.input = input;
  return tick;
}

// From the oldest moment that is not too far back, so that much is replayed.
PastSource from_far_back(const PastSource& source, std::uint64_t most) {
  PastSource far = source;
  std::erase_if(far.snapshots, [&](const store::SnapshotEntry& entry) {
    return source.last - (entry.next_record - 1) > most;
  });
  std::ranges::reverse(far.snapshots);
  // All of it, without any snapshot.
  if (source.first == 1 && source.last <= most) far.snapshots.clear();
  return far;
}

using Differing = DifferenceSum::Differing;

// Each instance that came out differently, with the first record in which it did.
class Differences {
 public:
  base::Result<void> add(store::RecordNumber record, std::vector<kernel::ReplayDifference> found) {
    for (kernel::ReplayDifference& each : found) {
      if (first_.empty())
        first_ = "record " + std::to_string(record) + ": " +
                 (each.workflow.empty()
                      ? each.why
                      : kernel::instance_name(each.workflow, each.key) + ": " + each.why);
      if (each.workflow.empty() || names_.contains({each.workflow, each.key})) continue;
      if (all_.size() == DifferenceSum::kMostCounted)
        return base::Error(
            base::ErrorCode::kConflict, "record " + std::to_string(record),
            "more than " + std::to_string(all_.size()) + " instances replay differently");
      names_.insert({each.workflow, each.key});
      all_.push_back({std::move(each.workflow), std::move(each.key), record, std::move(each.why)});
    }
    return {};
  }

  const std::string& first() const noexcept { return first_; }

  // Counts and lists them, as they are in the present world.
  base::Result<void> sum_up(kernel::World& world, DifferenceSum& sum) {
    for (Differing& each : all_) {
      const kernel::Cell* const cell = TRY(world.find(each.workflow, each.key));
      if (cell == nullptr || cell->terminal()) {
        ++sum.ended;
        continue;
      }
      ++sum.active;
      if (sum.listed.size() < DifferenceSum::kMostListed) sum.listed.push_back(std::move(each));
    }
    return {};
  }

 private:
  std::vector<Differing> all_;
  std::set<std::pair<std::string, base::Bytes>> names_;
  std::string first_;
};

// The copy. Where instances differ it is made again from the newest snapshot, which has them as
// they are. Without one, the code does not even come to the present state: `stopped` says so.
base::Result<std::unique_ptr<PastWorld>> copy_of(const PastSource& source,
                                                 const kernel::MachineSource& machines,
                                                 const RehearsalOptions& options,
                                                 Rehearsal& rehearsal, Differences& differences) {
  const auto tolerate = [&](store::RecordNumber record,
                            std::vector<kernel::ReplayDifference> found) {
    return differences.add(record, std::move(found));
  };
  std::string& stopped = rehearsal.differences.stopped;
  PastSource far = from_far_back(source, options.replay);
  far.tolerate = tolerate;
  if (!far.snapshots.empty() || (source.first == 1 && source.last <= options.replay)) {
    auto past = PastWorld::at(far, machines, source.last, options.limits);
    if (past) {
      rehearsal.replayed = (*past)->replayed();
      if (differences.first().empty()) return past;
    } else {
      const base::ErrorCode code = past.error().code();
      if (code != base::ErrorCode::kConflict && code != base::ErrorCode::kUnavailable) return past;
      stopped = past.error().to_string();
    }
  }
  PastSource near = source;
  near.tolerate = tolerate;
  auto past = PastWorld::at(near, machines, source.last, options.limits);
  if (past) {
    rehearsal.replayed = std::max(rehearsal.replayed, (*past)->replayed());
    return past;
  }
  if (past.error().code() != base::ErrorCode::kConflict) return past;
  if (stopped.empty()) stopped = past.error().to_string();
  return std::unique_ptr<PastWorld>();
}

base::Result<void> move_all(PastWorld& past, MigrationSum& sum) {
  for (const base::Bytes& names : TRY(list_earlier(past.world(), {}))) {
    TRY(past.take(0));
    const kernel::Outcome outcome =
        past.world().reduce(tick_of(past.world(), kernel::MigrateInstances{names}));
    if (outcome.failure)
      return base::Error(outcome.failure->code(), outcome.failure->where(),
                         outcome.failure->message());
    if (const auto* accepted = std::get_if<kernel::Accepted>(&outcome.answer)) {
      sum.add(*accepted->migration);
    } else if (const auto* same = std::get_if<kernel::Unchanged>(&outcome.answer)) {
      if (same->migration) sum.add(*same->migration);
    }
  }
  return {};
}

}  // namespace

void MigrationSum::add(const kernel::Migration& migration) {
  moved += migration.moved;
  stays += migration.stays.size();
  for (const kernel::Migration::Stays& each : migration.stays) {
    if (staying.size() == kMostListed) return;
    staying.push_back(each);
  }
}

base::Result<std::vector<base::Bytes>> list_earlier(kernel::World& world,
                                                    std::string_view workflow) {
  std::vector<base::Bytes> lists;
  std::vector<std::pair<std::string, base::Bytes>> names;
  const auto flush = [&] {
    if (names.empty()) return;
    std::vector<kernel::ForgetName> views;
    for (const auto& [name, key] : names) views.push_back({name, key, 0});
    codec::Buffer list;
    kernel::write_forget_list(list, views);
    lists.push_back(list.to_bytes());
    names.clear();
  };
  if (!world.program().has_pins()) return lists;
  TRY(world.visit_instances([&](std::string_view name, const kernel::Cell& cell) {
    const bool is_meant = workflow.empty() || name == workflow;
    if (!is_meant || cell.terminal() || cell.workflow >= world.program().workflow_count() ||
        !world.program().workflow(cell.workflow).is_pinned)
      return true;
    names.emplace_back(name, cell.key);
    if (names.size() == kernel::kMaxMigratedPerTick) flush();
    return true;
  }));
  flush();
  return lists;
}

base::Result<Rehearsal> rehearse(const PastSource& source, const kernel::MachineSource& machines,
                                 base::ByteView definitions, const RehearsalOptions& options) {
  Rehearsal rehearsal;
  rehearsal.at = source.last;
  Differences differences;
  const auto past = TRY(copy_of(source, machines, options, rehearsal, differences));
  rehearsal.difference =
      differences.first().empty() ? rehearsal.differences.stopped : differences.first();
  if (past == nullptr) {
    rehearsal.answer = kernel::Unchanged{};
    return rehearsal;
  }
  kernel::World& world = past->world();
  TRY(differences.sum_up(world, rehearsal.differences));
  rehearsal.instances = world.active_instances();
  kernel::Outcome outcome = world.reduce(
      tick_of(world, kernel::ApplyManifest{definitions, {}, options.how.strict, options.how.pin}));
  if (outcome.failure) return std::move(*outcome.failure);
  rehearsal.answer = std::move(outcome.answer);
  const bool has_them = std::holds_alternative<kernel::Accepted>(rehearsal.answer) ||
                        std::holds_alternative<kernel::Unchanged>(rehearsal.answer);
  if (options.migrate && has_them) TRY(move_all(*past, rehearsal.migration));
  return rehearsal;
}

}  // namespace holdfast::node
