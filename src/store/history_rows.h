// SPDX-License-Identifier: Apache-2.0
// What goes into the index of instances and comes out of it: plain values. What they mean is for
// those who read records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/kept_hash.h"
#include "store/journal.h"

namespace holdfast::store {

// Of what an instance said to people, the newest is kept, so many bytes of it; of an error so many.
inline constexpr std::size_t kMaxAnnotationBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxErrorBytes = std::size_t{4} << 10;

inline constexpr std::size_t kMaxPageRows = 1000;

// Of the stream of an instance the newest entries are kept, so many and so many bytes of them.
inline constexpr std::size_t kMaxStreamEntries = 10'000;
inline constexpr std::size_t kMaxStreamBytes = std::size_t{4} << 20;

// What an instance has put out. Sequence numbers grow over all lives of its key, with gaps.
struct StreamEntry {
  std::uint64_t sequence = 0;
  base::Bytes value;  // canonical, without the self-describe tag

  friend bool operator==(const StreamEntry&, const StreamEntry&) = default;
};

// Whether an instance with this status is over: it has ended, or was deleted.
inline bool is_over(std::string_view status) noexcept {
  return status == "completed" || status == "failed" || status == "cancelled" ||
         status == "deleted";
}

// What one record says of one instance.
struct InstanceChange {
  std::string workflow;
  base::Bytes key;       // empty if the workflow has no key
  std::string key_text;  // the key as people read it; it may be told later, by HistoryBatch::name
  RecordNumber record = 0;
  std::uint64_t time_ns = 0;
  RecordNumber previous = 0;  // the record that touched it before; 0: it begins, or begins again.
                              // Behind a deletion by the same record it begins again, too
  std::string status;
  bool paused = false;
  std::string error_code;  // empty: there is none
  std::string error_message;
  bool keeps_error = false;               // it ended before: the error is the one that is known
  std::uint64_t steps = 0;                // of this record
  std::vector<std::string> annotations;   // of this record, each on one line
  std::vector<StreamEntry> entries = {};  // the same as values, in order
  std::uint64_t ended = 0;  // the sequence of its end, if this record ended or deleted it

  // The instance is to be forgotten, if it is over and `previous` is its last record or behind
  // that. Nothing else is said then.
  bool forgets = false;
};

// How far the index has come. The hash is of the last record, so that an index which followed
// another journal is told apart.
struct HistoryCursor {
  RecordNumber begins = 1;  // the first record it has seen: what was before, nobody can tell it
  RecordNumber record = 0;
  base::Hash hash;
  RecordNumber seeded = 0;  // not 0: what no record had touched since it begins is from the
                            // snapshot before this one

  friend bool operator==(const HistoryCursor&, const HistoryCursor&) = default;
};

// The changes of some records that follow each other, one for each instance however often it was
// touched.
class HistoryBatch {
 public:
  void add(InstanceChange change);

  // In the order of the first touch; behind one that is forgotten, its key begins anew. The
  // previous record is that of the first change.
  struct Entry {
    InstanceChange latest;
    RecordNumber previous = 0;
    bool is_gone = false;  // forgotten for sure, whatever the row shows
    std::optional<std::pair<RecordNumber, std::uint64_t>> began;  // record and time
    std::uint64_t annotation_count = 0;                           // of all, also of those let go
  };
  std::span<const Entry> entries() const noexcept { return entries_; }

  // Gives their texts to the keys that have none: one for each instance, not for each change.
  template <class TextOf>
  void name(const TextOf& text_of) {
    for (Entry& entry : entries_) {
      InstanceChange& change = entry.latest;
      if (change.key_text.empty() && !change.forgets) change.key_text = text_of(change.key);
    }
  }
  void clear();

 private:
  void forget(InstanceChange change);

  // Where the entry of an instance is, or would be.
  struct Place {
    std::size_t& index;
    bool is_new;
  };
  Place place_of(const InstanceChange& change);

  std::vector<Entry> entries_;
  // Only looked into.
  std::unordered_map<std::string, std::size_t, base::KeptHash<base::HashOfText>, std::equal_to<>>
      places_;
  std::string name_;  // of the one that is looked for
};

// An instance, as the last record that touched it left it.
struct InstanceRow {
  std::uint64_t id = 0;  // from 1, in the order in which instances were seen first
  std::string workflow;
  base::Bytes key;
  std::string key_text;
  std::string status;
  bool paused = false;
  RecordNumber first_record = 0;  // 0: it began before the index did
  std::uint64_t first_ns = 0;
  RecordNumber last_record = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t steps = 0;        // since first_record, or since the index began
  std::uint64_t annotations = 0;  // said, kept or not
  std::string error_code;
  std::string error_message;
  std::uint64_t ended = 0;    // the sequence of its end; 0: it has not, or before the index began
  std::uint64_t dropped = 0;  // of its stream, everything up to this sequence; 0: nothing

  friend bool operator==(const InstanceRow&, const InstanceRow&) = default;
};

// What does not matter is left empty. Instances that were seen last come first.
struct HistoryQuery {
  std::string workflow = {};
  std::string status = {};  // one, or several with commas between them
  std::optional<bool> paused = {};
  std::uint64_t since_ns = 0;  // touched then or later
  std::uint64_t until_ns = 0;  // last touched before; 0: whenever
  std::string key = {};        // the key is a text that begins with this
  std::string code = {};       // the error code that it failed with
  std::string words = {};      // all of them occur in what the instance said
  std::uint64_t after = 0;     // where the page before ended: its `next`
  std::size_t limit = 50;      // up to kMaxPageRows
  bool counts = false;         // also HistoryPage::counts

  // Not 0: also HistoryPage::rates, from this time on, one for each step that is not empty.
  std::uint64_t rates_from_ns = 0;
  std::uint64_t rates_step_ns = 0;  // rounded up to whole kRateSlotNs
};

// Instances that began and ended are counted in slots of this length, and slots older than
// kRatesKeptNs before the newest record are dropped.
inline constexpr std::uint64_t kRateSlotNs = 10'000'000'000;
inline constexpr std::uint64_t kRatesKeptNs = std::uint64_t{2} * 24 * 3600 * 1'000'000'000;

struct InstanceRate {
  std::uint64_t from_ns = 0;  // where the step begins
  std::uint64_t begun = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;

  friend bool operator==(const InstanceRate&, const InstanceRate&) = default;
};

// How many instances of a workflow have a status.
struct InstanceCount {
  std::string workflow;
  std::string status;
  std::uint64_t count = 0;
};

// Somebody who may be forgotten.
struct EndedInstance {
  std::string workflow;
  base::Bytes key;
  RecordNumber last_record = 0;
};

// Which of those that are over.
struct OverQuery {
  std::string only = {};              // of this workflow; empty: of all
  std::vector<std::string> but = {};  // not of these, two at most
};

// It may have fewer rows than it could, and even none, though there are more: only so many are
// looked at for one page.
struct HistoryPage {
  std::vector<InstanceRow> rows;
  std::uint64_t next = 0;                  // 0: there are no more
  std::vector<InstanceCount> counts = {};  // of all instances, by workflow and status
  std::vector<InstanceRate> rates = {};    // of all instances, in order
};

}  // namespace holdfast::store
