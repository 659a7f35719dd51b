// SPDX-License-Identifier: Apache-2.0
// EventIds: the ids of events that were accepted, so that an event which is sent again gets its
// first answer again. They are kept in chunks of kPerChunk, in the order in which they came, and
// forgotten chunk by chunk, the oldest first: when the newest of a chunk is older than the window,
// or when there are too many. What is forgotten follows from the ids and the times of their ticks.
// Where ids are held, a chunk is kept until all of it is marked, and its time is then that of the
// mark.
//
// A chunk that is full never changes. It moves to a blob, and only its hash is kept; a small table
// in memory says which chunk may have an id. So a snapshot writes what is new, and an id costs
// about ten bytes of memory. A blob that cannot be read stops the world: `failure` is set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "kernel/blobs.h"
#include "kernel/limits.h"

namespace holdfast::kernel {

// An event that had an id: what to answer when it comes again, and how to know that it is the same.
struct KnownEvent {
  std::uint64_t record = 0;
  std::uint32_t fingerprint = 0;
  std::uint32_t deliveries = 0;
  std::uint32_t ignored = 0;
  std::uint32_t unhandled = 0;  // of the deliveries

  // No instance took it, though there is a workflow for it.
  bool is_untaken() const noexcept { return deliveries == unhandled && deliveries + ignored != 0; }

  friend bool operator==(const KnownEvent&, const KnownEvent&) = default;
};

struct EventIdLimits {
  std::uint64_t window_ns = kEventIdWindowNs;
  std::uint64_t most = kMostEventIds;
};

// Whether two lists of chunks have the same events, but that the first may be of a program that did
// not keep how many deliveries were unhandled.
base::Result<bool> same_but_for_unhandled(const Blobs& blobs, codec::View before, codec::View now);

class EventIds {
 public:
  static constexpr std::size_t kPerChunk = 1024;

  // `marked`: ids are held, and those up to this record are marked.
  explicit EventIds(EventIdLimits limits = {}, std::optional<std::uint64_t> marked = std::nullopt)
      : limits_(limits), marked_(marked) {}

  // The last event of this id that is remembered at this time.
  std::optional<KnownEvent> find(const Blobs& blobs, std::string_view id, std::uint64_t now_ns);

  // One that is not remembered, or that a record says was accepted all the same.
  void add(std::string_view id, const KnownEvent& event, std::uint64_t now_ns);

  // Of the event that was added last: what is known when the turns of its tick are taken.
  void set_unhandled(std::uint32_t unhandled);

  // Of ids that are held: those up to this record are marked at this time.
  void mark(std::uint64_t record, std::uint64_t now_ns);
  std::uint64_t marked() const noexcept { return marked_.value_or(0); }

  std::uint64_t size() const noexcept { return next_ - first_chunk_ * kPerChunk; }

  // Ids that were forgotten within the window, as there were too many, since the world was opened.
  std::uint64_t forgotten_early() const noexcept { return forgotten_early_; }

  // Moves full chunks to blobs, the oldest first, until at most so many are left in memory. No
  // more than kPutsAtOnce: the number that was put.
  base::Result<std::size_t> put_away(Blobs& blobs, std::size_t most_left);
  static constexpr std::size_t kPutsAtOnce = 8;
  // The same between ticks: some stay, and without room for them all do.
  void trim(Blobs& blobs);

  // Two items of a snapshot: the hashes of the chunks, and what is known of them besides.
  base::Result<void> write_chunks(codec::Buffer& out, Blobs& blobs);
  void write_times(codec::Buffer& out) const;

  // The same read back. `times` is absent in a snapshot of before ids were kept by time: then they
  // count as of `latest_ns`, the time of the snapshot.
  base::Result<void> restore(const Blobs& blobs, codec::View chunks,
                             std::optional<codec::View> times, std::uint64_t latest_ns);

  const std::optional<base::Error>& failure() const noexcept { return failure_; }
  std::size_t chunks_in_memory() const noexcept { return chunks_.size() - put_; }

 private:
  struct Entry {
    std::string id;
    KnownEvent event;
  };
  struct Chunk {
    std::uint64_t newest_ns = 0;
    std::uint64_t newest_record = 0;
    std::optional<base::Hash> blob;
    std::vector<Entry> entries;  // empty when it is in the blob
  };

  // The ids of some chunks in a row: where one may be. Full at three quarters of its slots.
  struct Group {
    std::vector<std::uint64_t> slots;  // a tag of the id and its place in the group; 0: free
    std::uint32_t used = 0;
  };
  static constexpr std::uint64_t kPlaceBits = 19;
  static constexpr std::uint64_t kPerGroup = (std::uint64_t{3} << kPlaceBits) / 4;
  static_assert(kPerGroup % kPerChunk == 0);

  struct Loaded {
    std::uint64_t chunk = UINT64_MAX;
    std::vector<Entry> entries;
  };

  static std::uint64_t tag_of(std::string_view id);
  static void insert(std::vector<std::uint64_t>& slots, std::uint64_t slot);
  void note_place(std::string_view id, std::uint64_t number);
  void append(std::string_view id, const KnownEvent& event, std::uint64_t now_ns);
  const Entry* entry_at(const Blobs& blobs, std::uint64_t number);
  bool is_over(const Chunk& chunk, std::uint64_t now_ns) const noexcept;
  void forget(std::uint64_t now_ns);
  void forget_oldest();

  EventIdLimits limits_;
  std::optional<std::uint64_t> marked_;  // nothing: ids are not held
  std::uint64_t next_ = 0;               // the number of the next id
  std::uint64_t first_chunk_ = 0;        // its number; an id is in the chunk of its number
  bool is_complete_ = true;              // ids are numbered from the first of the world on
  std::deque<Chunk> chunks_;
  std::size_t put_ = 0;  // so many of them, from the first on, are in blobs
  std::size_t refused_at_ = 0;
  std::uint64_t first_group_ = 0;
  std::deque<Group> groups_;
  std::array<Loaded, 8> loaded_;  // chunks that were looked into last
  std::size_t next_loaded_ = 0;
  std::uint64_t forgotten_early_ = 0;
  std::optional<base::Error> failure_;
};

}  // namespace holdfast::kernel
