// SPDX-License-Identifier: Apache-2.0
// Merges the spec of a node over the template of its document: mappings merge key by key,
// everything else (scalars and lists) replaces what the template says. Both are canonical, and so
// is the result.
#pragma once

#include <span>
#include <string_view>

#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::tasks {

// Writes the merged value. It is recursive, at most codec::kMaxDepth deep.
void write_merged(codec::Buffer& out, codec::View under, codec::View over);

// Writes a mapping without some of its keys.
void write_without(codec::Buffer& out, codec::View map, std::span<const std::string_view> keys);

// Containers inside the value, counting itself; 0 for a scalar.
std::size_t depth_of(codec::View value);

}  // namespace holdfast::tasks
