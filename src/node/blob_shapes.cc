// SPDX-License-Identifier: Apache-2.0
#include "node/blob_shapes.h"

#include "kernel/references.h"

namespace holdfast::node {
namespace {

using kernel::BlobKind;

std::uint8_t number_of(BlobKind kind) {
  return kind == BlobKind::kPlain ? store::BlobReference::kPlain : static_cast<std::uint8_t>(kind);
}

base::Result<std::vector<store::BlobReference>> references_of(std::uint8_t kind,
                                                              base::ByteView bytes) {
  std::vector<store::BlobReference> found;
  for (const kernel::BlobReference& each :
       TRY(kernel::references_of(static_cast<BlobKind>(kind), bytes)))
    found.push_back({each.hash, number_of(each.kind)});
  return found;
}

}  // namespace

store::BlobShapes blob_shapes() { return {number_of(BlobKind::kSnapshot), references_of}; }

}  // namespace holdfast::node
