// SPDX-License-Identifier: Apache-2.0
// Item: what a reader finds at one place of its input: a whole scalar, or the opening of a
// container. JSON and CBOR readers both speak in items, so one normaliser serves both.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::codec {

enum class ItemKind : std::uint8_t {
  kNull,
  kBool,      // number: 0 or 1
  kNat,       // number
  kNegative,  // -1 - number
  kFloat,     // real
  kNumber,    // text: a JSON number that is not an integer of 64 bits, as written
  kBytes,     // text
  kText,      // text, valid UTF-8
  kList,
  kMap,
  kTag,     // number; one item follows
  kSimple,  // number: a CBOR simple value without a meaning here
};

// Views into the input or into the reader; they hold until the reader reads on.
struct Item {
  ItemKind kind = ItemKind::kNull;
  std::uint64_t number = 0;
  double real = 0;
  std::string_view text;
};

// Where a reader stands inside an open container.
struct Cursor {
  static constexpr std::uint64_t kOpenEnd = ~std::uint64_t{0};
  std::uint64_t left = kOpenEnd;  // entries still to come; kOpenEnd: the end is marked in the input
  bool first = true;
  bool map = false;
};

enum class More : std::uint8_t { kYes, kNo, kError };

constexpr std::string_view name_of(ItemKind kind) noexcept {
  switch (kind) {
    case ItemKind::kNull: return "null";
    case ItemKind::kBool: return "bool";
    case ItemKind::kNat: return "nat";
    case ItemKind::kNegative: return "negative int";
    case ItemKind::kFloat: return "float";
    case ItemKind::kNumber: return "number";
    case ItemKind::kBytes: return "bytes";
    case ItemKind::kText: return "text";
    case ItemKind::kList: return "list";
    case ItemKind::kMap: return "map";
    case ItemKind::kTag: return "tag";
    case ItemKind::kSimple: return "simple value";
  }
  return "item";
}

}  // namespace holdfast::codec
