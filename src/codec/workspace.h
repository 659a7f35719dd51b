// SPDX-License-Identifier: Apache-2.0
// Workspace: what the normaliser keeps while it walks a value, reused from value to value. The
// output grows front to back; each open container has a frame that remembers where its entries
// stand in the output, so that they can be put in order when it closes, without a tree.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/buffer.h"
#include "codec/item.h"
#include "codec/limits.h"
#include "codec/schema.h"

namespace holdfast::codec {

// One field of an open record: where its key begins and its value ends; absent if begin == end.
struct Slot {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// One entry of an open map (key and value) or set (key only).
struct Entry {
  std::uint32_t begin;
  std::uint32_t key_end;
  std::uint32_t end;
};

enum class Shape : std::uint8_t { kList, kSet, kMap, kItemMap, kRecord, kVariant, kTag };

struct Frame {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  const Schema::Node* node = nullptr;
  Cursor cursor;
  Shape shape = Shape::kList;
  bool in_order = true;           // entries came in canonical order so far
  bool awaits_value = false;      // kItemMap: a key has been read, its value has not
  bool value_came_first = false;  // kVariant: $value stood before $tag, and is read again
  bool in_value = false;          // kMap: the value of the last entry is being read
  bool sugar = false;             // kVariant: written as {"Arm": value}
  bool counted = false;           // the head is written and right
  std::uint32_t head = 0;         // where the container's head stands in the output
  std::uint32_t first = 0;        // its first slot or entry
  std::uint32_t count = 0;        // entries so far
  std::uint32_t current = kNone;  // kRecord: the field being read; kVariant: the arm
};

struct Workspace {
  Buffer out;
  Buffer scratch;
  std::vector<Slot> slots;
  std::vector<Entry> entries;
  std::array<Frame, kMaxDepth> frames;
  std::size_t depth = 0;
  std::size_t items = 0;  // of the encoded value, so far

  void reset() {
    out.clear();
    slots.clear();
    entries.clear();
    depth = 0;
    items = 0;
  }
  std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(out.size()); }

  // Where the walk stands, such as $.items[3].price.
  std::string path(const Schema& schema) const;
};

}  // namespace holdfast::codec
