// SPDX-License-Identifier: Apache-2.0
// What a blob of the kernel names in its turn: a snapshot its roots and lists, an index its parts
// and the large values and much mail of its cells. Whoever follows these from a snapshot finds
// everything that the snapshot needs, and nothing else.
//
// The kind says how to read a blob, for bytes alone do not: a state may look like part of an index.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace holdfast::kernel {

enum class BlobKind : std::uint8_t {
  kSnapshot,
  kCellIndex,    // a node of an index of cells
  kIntentIndex,  // a node of the index of open intents
  kProposals,    // a part of the list of proposals
  kMail,         // a part of the mail of one cell
  kPlain,        // names nothing: need not be read
};

struct BlobReference {
  base::Hash hash;
  BlobKind kind;

  friend bool operator==(const BlobReference&, const BlobReference&) = default;
};

// kCorrupt: the bytes are not of this kind.
base::Result<std::vector<BlobReference>> references_of(BlobKind kind, base::ByteView bytes);

}  // namespace holdfast::kernel
