// SPDX-License-Identifier: Apache-2.0
// The file WORLD of a world's folder: who the world is, whether its journal was begun, and from
// which backups it was restored. Bytes: docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/disk.h"
#include "store/journal_format.h"

namespace holdfast::store {

// A restored world is a new life: what happened after the backup is unknown to it, and its record
// numbers from then on stand for other records.
struct Restored {
  std::uint32_t life = 0;     // random; never 0, which stands for the first life
  RecordNumber after = 0;     // the last record of the backup
  std::uint64_t time_ns = 0;  // when it was restored
  friend bool operator==(const Restored&, const Restored&) = default;
};

// So many are kept, the newest.
inline constexpr std::size_t kMaxRestored = 64;

struct WorldFile {
  JournalId id{};
  bool is_begun = false;
  std::vector<Restored> restored = {};  // from the oldest

  // The present one; 0: the first.
  std::uint32_t life() const noexcept { return restored.empty() ? 0 : restored.back().life; }
};

base::Bytes encode(const WorldFile& file);

// kCorrupt: it is damaged. kConflict: it was written by a newer version.
base::Result<WorldFile> decode_world_file(base::ByteView bytes, const std::string& path);

// In this folder.
base::Result<WorldFile> read_world_file(env::Disk& disk, const std::string& folder);

}  // namespace holdfast::store
