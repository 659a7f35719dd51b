// SPDX-License-Identifier: Apache-2.0
// BlobMarks: which blobs were reached, and as what. They are in the file beside the blobs, so that
// memory does not grow with their number; to be used inside a transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "store/blob_store.h"

namespace holdfast::store {

// A blob that another one names, and how to read it: a number that only `references_of` below
// understands.
struct BlobReference {
  // Names nothing, and is not read.
  static constexpr std::uint8_t kPlain = 0xff;

  base::Hash hash;
  std::uint8_t kind = kPlain;
};

struct BlobShapes {
  std::uint8_t snapshot = 0;  // the kind of a snapshot's bytes
  std::function<base::Result<std::vector<BlobReference>>(std::uint8_t kind, base::ByteView bytes)>
      references_of;
};

class BlobMarks {
 public:
  // The blobs must outlive it.
  static base::Result<BlobMarks> open(BlobStore& blobs);

  base::Result<void> clear();

  // Whether the mark is new. kNotFound: there is no such blob.
  base::Result<bool> add(const BlobReference& reference);

 private:
  BlobMarks() = default;

  SqliteStatement find_;
  SqliteStatement mark_;
  SqliteStatement clear_;
};

}  // namespace holdfast::store
