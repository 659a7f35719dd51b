// SPDX-License-Identifier: Apache-2.0
// The files of a journal's folder: their names, reading a segment's header, and putting a new
// segment in use.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "env/disk.h"
#include "store/journal_format.h"

namespace holdfast::store {

// "000000000007.log"
std::string segment_name(std::uint64_t number);
std::optional<std::uint64_t> segment_number(std::string_view name);

inline std::string segment_path(const std::string& folder, std::uint64_t number) {
  return folder + "/" + segment_name(number);
}

// kCorrupt, at this place of this file.
base::Error corrupt_at(const std::string& path, std::uint64_t offset, const std::string& why);

// kConflict: the file was written by another release.
base::Error other_version_at(const std::string& path, std::uint64_t version, std::uint64_t known);

struct Segment {
  SegmentHeader header;
  std::unique_ptr<env::File> file;
};

// kCorrupt when the header is not one of segment `number` of this journal.
base::Result<Segment> open_segment(env::Disk& disk, const std::string& folder,
                                   const JournalId& journal, std::uint64_t number,
                                   env::OpenMode mode);

// Makes the file at `blank_path`, which is as long as the header says, a segment: header and
// contents are written and synced under the old name, so that a segment is complete as soon as its
// name is there; then the name is made durable. `begun` is set before the name may be there: an
// error after that leaves it open whether the segment exists.
struct PutInUse {
  std::string blank_path;
  SegmentHeader header;
  std::function<base::Result<void>(env::File&, const SegmentHeader&)> write_contents;
  bool begun = false;

  base::Result<Segment> run(env::Disk& disk, const std::string& folder);
};

}  // namespace holdfast::store
