// SPDX-License-Identifier: Apache-2.0
#include "env/crash.h"

#include <map>

#include "base/check.h"
#include "env/disk.h"

namespace holdfast::env {
namespace {

std::uint64_t end_sector(const DiskOperation& write) {
  return (write.offset + write.bytes.size() + kSectorBytes - 1) / kSectorBytes;
}

bool is_torn_by_sectors(const DiskOperation& operation) {
  return operation.kind == OperationKind::kWrite &&
         end_sector(operation) - operation.offset / kSectorBytes > 1;
}

void for_each_tear(const DiskOperation& write, Crash crash,
                   const std::function<void(const Crash&)>& visit) {
  const std::uint64_t begin = write.offset / kSectorBytes;
  const std::uint64_t end = end_sector(write);
  for (std::uint64_t sector = begin; sector < end; ++sector) {
    crash.lost_sectors = {sector};
    visit(crash);
  }
  crash.lost_sectors.clear();
  for (std::uint64_t sector = end - 1; sector > begin; --sector) {
    crash.lost_sectors.insert(sector);
    visit(crash);
  }
}

void for_each_pair(const std::vector<std::size_t>& pending, std::size_t at,
                   const std::function<void(const Crash&)>& visit) {
  for (std::size_t i = 0; i < pending.size(); ++i) {
    for (std::size_t j = i + 1; j < pending.size(); ++j) {
      Crash both{.at = at};
      both.lost = {pending[i], pending[j]};
      visit(both);
      Crash swapped{.at = at};
      swapped.swapped = {pending[i], pending[j]};
      visit(swapped);
    }
  }
}

void visit_point(std::span<const DiskOperation> recorded, std::size_t at,
                 const std::function<void(const Crash&)>& visit) {
  const std::vector<std::size_t> pending = pending_operations(recorded.first(at));
  visit(Crash{.at = at});
  if (pending.empty()) return;
  Crash none{.at = at};
  none.lost.insert(pending.begin(), pending.end());
  visit(none);
  for (const std::size_t index : pending) {
    Crash one{.at = at};
    one.lost = {index};
    visit(one);
    if (!is_torn_by_sectors(recorded[index])) continue;
    Crash torn{.at = at};
    torn.torn = index;
    for_each_tear(recorded[index], torn, visit);
  }
  for_each_pair(pending, at, visit);
}

}  // namespace

std::vector<std::size_t> pending_operations(std::span<const DiskOperation> issued) {
  std::set<std::size_t> pending;
  std::map<std::uint64_t, std::vector<std::size_t>> of_file;
  std::map<std::string, std::vector<std::size_t>> of_folder;
  const auto settle = [&](std::vector<std::size_t>& operations) {
    for (const std::size_t index : operations) pending.erase(index);
    operations.clear();
  };
  for (std::size_t index = 0; index < issued.size(); ++index) {
    const DiskOperation& operation = issued[index];
    switch (operation.kind) {
      case OperationKind::kSync: settle(of_file[operation.file]); break;
      case OperationKind::kFailedSync: of_file[operation.file].clear(); break;  // pending for ever
      case OperationKind::kSyncDirectory: settle(of_folder[operation.path]); break;
      case OperationKind::kWrite:
      case OperationKind::kTruncate:
        of_file[operation.file].push_back(index);
        pending.insert(index);
        break;
      case OperationKind::kRename:
        CHECK(parent_of(operation.path) == parent_of(operation.other_path));
        [[fallthrough]];
      case OperationKind::kMakeDirectory:
      case OperationKind::kCreate:
      case OperationKind::kRemove:
        of_folder[parent_of(operation.path)].push_back(index);
        pending.insert(index);
        break;
    }
  }
  return {pending.begin(), pending.end()};
}

DiskState after_crash(const DiskState& start, std::span<const DiskOperation> recorded,
                      const Crash& crash) {
  DiskState state = start;
  for (std::size_t index = 0; index < crash.at; ++index) {
    std::size_t which = index;
    if (crash.swapped && index == crash.swapped->first) which = crash.swapped->second;
    if (crash.swapped && index == crash.swapped->second) which = crash.swapped->first;
    if (crash.lost.contains(which)) continue;
    if (crash.torn == which) {
      state.apply_torn(recorded[which], crash.lost_sectors);
    } else {
      state.apply(recorded[which]);
    }
  }
  state.forget_unreachable();
  return state;
}

std::string Crash::to_string() const {
  std::string text = "cut after operation " + std::to_string(at);
  for (const std::size_t index : lost) text += ", lost " + std::to_string(index);
  if (torn) text += ", torn " + std::to_string(*torn) + " without sectors";
  for (const std::uint64_t sector : lost_sectors) text += " " + std::to_string(sector);
  if (swapped) {
    text +=
        ", swapped " + std::to_string(swapped->first) + " and " + std::to_string(swapped->second);
  }
  return text;
}

void for_each_crash(std::span<const DiskOperation> recorded,
                    const std::function<void(const Crash&)>& visit) {
  for (std::size_t at = 0; at <= recorded.size(); ++at) visit_point(recorded, at, visit);
}

}  // namespace holdfast::env
