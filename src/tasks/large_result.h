// SPDX-License-Identifier: Apache-2.0
// Results that are too large to stand in the cell of a task are kept as blobs. In the cell, and
// wherever else the result would stand, is a reference then: {"$blob": HEX, "bytes": N}. The blob
// is the canonical value without tag. It stays as long as something in the world names it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/view.h"

namespace holdfast::tasks {

struct ResultReference {
  base::Hash hash;
  std::uint64_t bytes = 0;
};

// The reference that a result in a cell is; nothing: it is the result itself.
std::optional<ResultReference> reference_of(codec::View result);

base::Bytes write_reference(const ResultReference& reference);

// Whether a result is kept as a blob: it is large, or it has the form of a reference.
bool is_kept_as_blob(base::ByteView result);

}  // namespace holdfast::tasks
