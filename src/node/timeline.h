// SPDX-License-Identifier: Apache-2.0
// Timeline: what happened to one instance, the last first. It needs no index: each record names,
// for every instance it touched, the one before it, and this walks along. It costs one look into
// the journal a record, whatever lies in between.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "kernel/record_view.h"
#include "store/journal.h"

namespace holdfast::node {

// A record in which the instance took steps, was deleted and began again has an entry for each
// life. A record that only lets an ended instance begin again has one, of the life that begins.
struct TimelineEntry {
  base::Bytes record;
  kernel::RecordView view;        // of `record`
  kernel::InstanceView instance;  // what it says of this instance
};

enum class TimelineEnd : std::uint8_t {
  kMore,     // `next` is where to go on
  kBegun,    // the last entry is the beginning of the instance, or of its life after an earlier
             // record deleted it
  kTrimmed,  // it goes on with record `next`, which the journal does not have any more
};

struct Timeline {
  std::vector<TimelineEntry> entries;
  TimelineEnd end = TimelineEnd::kMore;
  store::RecordNumber next = 0;
};

struct TimelineLimits {
  std::size_t records = 100;
  std::size_t bytes = std::size_t{16} << 20;  // one record at least
};

// Where records are read, and the first that there is.
struct RecordSource {
  std::function<base::Result<base::Bytes>(store::RecordNumber)> read;
  store::RecordNumber first = 1;
};

// From record `from` on, which is the instance's last one, or `next` of the part before. kNotFound:
// record `from` says nothing of the instance, or is not durable. kCorrupt: a record names one that
// says nothing of it.
base::Result<Timeline> timeline(store::Journal& journal, std::string_view workflow,
                                base::ByteView key, store::RecordNumber from,
                                const TimelineLimits& limits = {});

base::Result<Timeline> timeline(const RecordSource& records, std::string_view workflow,
                                base::ByteView key, store::RecordNumber from,
                                const TimelineLimits& limits = {});

}  // namespace holdfast::node
