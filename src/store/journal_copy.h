// SPDX-License-Identifier: Apache-2.0
// Which segments hold a range of records, and how far each is to be copied: for somebody who copies
// the journal of a world that may be running. The records must be pinned meanwhile.
#pragma once

#include <string>
#include <vector>

#include "store/segment_files.h"

namespace holdfast::store {

// The headers of the segments that hold these durable records, in order. The last is the one with
// `last`, also where others follow.
base::Result<std::vector<SegmentHeader>> segments_between(env::Disk& disk,
                                                          const std::string& folder,
                                                          const JournalId& journal,
                                                          RecordNumber first, RecordNumber last);

// kCorrupt: not every record of the segment before those of `next` can be read.
base::Result<void> check_whole(const Segment& segment, const std::string& path,
                               const SegmentHeader& next);

// Where the batch with this record ends, which is the last in it. kCorrupt: it cannot be read.
base::Result<std::uint64_t> find_end(const Segment& segment, const std::string& path,
                                     RecordNumber last);

}  // namespace holdfast::store
