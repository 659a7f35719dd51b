// SPDX-License-Identifier: Apache-2.0
// What a simulated disk holds, and the operations that change it, as values: a recorded run can be
// replayed to any point, in whole or with parts left out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/bytes.h"

namespace holdfast::env {

// The unit in which a device writes whole or not at all.
inline constexpr std::uint64_t kSectorBytes = 512;

struct DiskOperation {
  enum class Kind : std::uint8_t {
    kMakeDirectory,  // path
    kCreate,         // path, file
    kRename,         // path, other_path, file
    kRemove,         // path, file
    kSyncDirectory,  // path
    kWrite,          // file, offset, bytes
    kTruncate,       // file, offset is the new size
    kSync,           // file
    kFailedSync,     // file
  };
  Kind kind;
  std::uint64_t file = 0;  // what POSIX calls an inode: it stays the same under any name
  std::uint64_t offset = 0;
  base::Bytes bytes = {};
  std::string path = {};
  std::string other_path = {};
};
using OperationKind = DiskOperation::Kind;

struct DiskState {
  std::map<std::uint64_t, base::Bytes> files;
  std::map<std::string, std::uint64_t> names;
  std::set<std::string> folders;

  // Operations on names that are not there change nothing: what made them may have been lost.
  void apply(const DiskOperation& operation);

  // A write of which some sectors, counted from the start of the file, did not arrive.
  void apply_torn(const DiskOperation& write, const std::set<std::uint64_t>& lost_sectors);

  // Forgets files without a name, and names in folders that are not there.
  void forget_unreachable();
};

}  // namespace holdfast::env
