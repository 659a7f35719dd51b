// SPDX-License-Identifier: Apache-2.0
#include "sim/last_batch.h"

#include <string>

#include "env/sim_disk.h"
#include "store/batch_scanner.h"
#include "store/segment_files.h"
#include "store/world_folder.h"

namespace holdfast::sim {
namespace {

constexpr const char* kJournal = "./world/journal";

std::optional<LastBatch> find_in(const store::Segment& segment) {
  std::optional<LastBatch> last;
  store::BatchScanner scanner(*segment.file, segment.header);
  for (auto found = scanner.next(); found && *found == store::BatchScanner::Found::kBatch;
       found = scanner.next()) {
    const store::BatchHeader& header = scanner.header();
    if (header.is_mark()) {
      if (last) last->is_marked = true;
      continue;
    }
    const bool is_known = segment.header.synced >= header.last();
    last = LastBatch{0, header.offset, header.bytes, header.last(), is_known};
  }
  return last;
}

}  // namespace

std::optional<LastBatch> find_last_batch(const env::DiskState& state) {
  std::optional<std::uint64_t> number;
  for (const auto& [name, file] : state.names) {
    if (env::parent_of(name) != kJournal) continue;
    if (const auto found = store::segment_number(name.substr(name.rfind('/') + 1))) number = found;
  }
  if (!number) return std::nullopt;
  env::SimDisk disk(state);
  const auto id = store::read_world_id(disk, "./world");
  if (!id) return std::nullopt;
  const auto segment = store::open_segment(disk, kJournal, *id, *number, env::OpenMode::kRead);
  if (!segment) return std::nullopt;
  auto last = find_in(*segment);
  if (last) last->file = state.names.at(store::segment_path(kJournal, *number));
  return last;
}

}  // namespace holdfast::sim
