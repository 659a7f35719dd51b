// SPDX-License-Identifier: Apache-2.0
// SnapshotParts: what the bytes of a snapshot say, before anybody follows it. The form is in
// docs/formats/snapshot.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/view.h"
#include "kernel/blobs.h"
#include "kernel/hash_trie.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

// Of the snapshot and of all that it names: indexes, cells, mail, chunks.
inline constexpr std::uint64_t kSnapshotVersion = 1;

// Texts and views are of the bytes it was read from.
struct SnapshotParts {
  struct Workflow {
    std::string_view name;
    HashTrie index;
    std::uint64_t active = 0;  // 0 for retired ones
  };

  struct Source {
    std::string_view name;
    std::uint64_t heard_ns = 0;
    std::uint64_t marked = 0;
    codec::View chunks;
    codec::View times;
  };

  explicit SnapshotParts(base::ByteView bytes)
      : event_ids(codec::View::of(bytes)), settled(event_ids), ready(settled), proposals(ready) {}

  std::uint64_t next_record = 1;
  std::uint64_t latest_ns = 0;
  std::uint64_t mail_bytes = 0;
  Entropy origin{};
  base::Hash definitions;
  std::vector<Workflow> workflows;
  std::vector<Workflow> retired;
  HashTrie intents;
  codec::View event_ids;  // this and the rest: lists of chunks
  codec::View settled;
  codec::View ready;
  codec::View proposals;
  std::optional<codec::View> event_id_times;  // absent: there are no ids, or they are of before
  std::optional<codec::View> waiting;         // a list of chunks; absent: nobody waits for room
  std::optional<codec::View> workers;  // lists of chunks; absent: no worker was ever enrolled
  std::optional<codec::View> cordons;
  // The names by number; absent: numbers are those of the manifest's order.
  std::optional<codec::View> numbering;
  std::vector<Source> sources;  // of events
};

// Whether both say the same of a world but for the ids of events, where one was taken before ids
// were kept by time, or comes from such a snapshot: then they are numbered, and forgotten,
// otherwise.
bool same_but_for_ids_of_before(const SnapshotParts& a, const SnapshotParts& b);

// The same but for how many deliveries of each event were unhandled, which programs before did not
// keep. `now`: of this program.
base::Result<bool> same_but_for_unhandled(const Blobs& blobs, const SnapshotParts& before,
                                          const SnapshotParts& now);

// kCorrupt: these are not the bytes of a snapshot. kConflict: it is of another version.
base::Result<SnapshotParts> read_snapshot(base::ByteView bytes);

}  // namespace holdfast::kernel
