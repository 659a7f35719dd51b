// SPDX-License-Identifier: Apache-2.0
// SnapshotParts: what the bytes of a snapshot say, before anybody follows it. The form is in
// docs/formats/snapshot.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/view.h"
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
};

// kCorrupt: these are not the bytes of a snapshot. kConflict: it is of another version.
base::Result<SnapshotParts> read_snapshot(base::ByteView bytes);

}  // namespace holdfast::kernel
