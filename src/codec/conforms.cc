// SPDX-License-Identifier: Apache-2.0
#include "codec/conforms.h"

#include <algorithm>
#include <cstring>

#include "codec/cbor_head.h"
#include "codec/utf8.h"

namespace holdfast::codec {
namespace {

// Larger and deeper values are for the normaliser, which keeps count of what values may have.
constexpr std::size_t kMostBytes = std::size_t{1} << 16;
constexpr int kDeepest = 16;

// Names are short: a call of memcmp would take longer than the comparison.
inline bool same(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) noexcept {
  const auto differ = [&](std::size_t at, auto word) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word != other;
  };
  // The last word overlaps the one before it.
  if (size > 2 * sizeof(std::uint64_t)) return std::memcmp(a, b, size) == 0;
  if (size >= sizeof(std::uint64_t))
    return !differ(0, std::uint64_t{}) && !differ(size - sizeof(std::uint64_t), std::uint64_t{});
  if (size >= sizeof(std::uint32_t))
    return !differ(0, std::uint32_t{}) && !differ(size - sizeof(std::uint32_t), std::uint32_t{});
  return std::equal(a, a + size, b);
}

// Each function takes the place where something begins and gives the one behind it, or null if it
// is not sure: so the place stays in a register.
using Place = const std::uint8_t*;

class Walk {
 public:
  Walk(const Schema& schema, Place end) noexcept : schema_(schema), end_(end) {}

  // Part of the loop over the fields of a record, where a call would cost as much as it does.
  [[gnu::always_inline]] Place value(Place at, const Schema::Node& node, int depth) const noexcept {
    if (at == end_) return nullptr;
    if (node.kind == TypeKind::kText) return text(at);
    if (node.kind == TypeKind::kNat) return head(at, Major::kNat).end;
    return depth < kDeepest ? rarer(at, node, depth + 1) : nullptr;
  }

 private:
  // A head in its shortest form.
  struct Head {
    Place end;  // null: there is none
    std::uint64_t number;
  };

  [[gnu::noinline]] Place rarer(Place at, const Schema::Node& node, int depth) const noexcept {
    switch (node.kind) {
      case TypeKind::kBool: return *at == kTrueByte || *at == kFalseByte ? at + 1 : nullptr;
      case TypeKind::kOption:
        return *at == kNullByte ? at + 1 : value(at, schema_.node(node.inner), depth);
      case TypeKind::kRecord: return record(at, node, depth);
      case TypeKind::kVariant: return variant(at, node, depth);
      case TypeKind::kList: return list(at, node, depth);
      case TypeKind::kInt: {
        const Head found = head(at, *at >> 5 == 0 ? Major::kNat : Major::kNegative);
        return found.number <= INT64_MAX ? found.end : nullptr;
      }
      case TypeKind::kBytes: return skip(head(at, Major::kBytes));
      default: return nullptr;
    }
  }

  Place record(Place at, const Schema::Node& node, int depth) const noexcept {
    const Head found = head(at, Major::kMap);
    if (found.end == nullptr || found.number != node.member_count) return nullptr;
    at = found.end;
    for (std::uint32_t i = 0; i < node.member_count; ++i) {
      const Schema::Member& field = schema_.member(node, i);
      at = prefix(at, field);
      if (at == nullptr) return nullptr;
      at = value(at, schema_.node(field.node), depth);
      if (at == nullptr) return nullptr;
    }
    return at;
  }

  // No prefix is the beginning of another one: each says how long its tag is.
  Place variant(Place at, const Schema::Node& node, int depth) const noexcept {
    for (std::uint32_t i = 0; i < node.member_count; ++i) {
      const Schema::Member& arm = schema_.member(node, i);
      if (const Place behind = prefix(at, arm))
        return arm.unit ? behind : value(behind, schema_.node(arm.node), depth);
    }
    return nullptr;
  }

  Place list(Place at, const Schema::Node& node, int depth) const noexcept {
    const Head found = head(at, Major::kList);
    at = found.end;
    for (std::uint64_t left = found.number; left > 0 && at != nullptr; --left)
      at = value(at, schema_.node(node.inner), depth);
    return at;
  }

  [[gnu::always_inline]] Place text(Place at) const noexcept {
    const Head found = head(at, Major::kText);
    const Place end = skip(found);
    if (end == nullptr) return nullptr;
    const std::string_view text(reinterpret_cast<const char*>(found.end), found.number);
    return is_ascii(text) || is_utf8(text) ? end : nullptr;
  }

  // `at` is not the end.
  [[gnu::always_inline]] Head head(Place at, Major major) const noexcept {
    // What is left of another type is more than any low bits.
    const auto low = static_cast<std::uint8_t>(*at ^ static_cast<std::uint8_t>(major) << 5);
    if (low < kOneByte) return {at + 1, low};
    return long_head(at, low);
  }
  Head long_head(Place at, std::uint8_t low) const noexcept {
    constexpr Head kNone{nullptr, 0};
    if (low > kEightBytes) return kNone;
    const std::size_t size = std::size_t{1} << (low - kOneByte);
    if (left(at) <= size) return kNone;
    const std::uint64_t number = load_big_endian(at + 1, size);
    return head_size(number) == size + 1 ? Head{at + 1 + size, number} : kNone;
  }

  [[gnu::always_inline]] Place prefix(Place at, const Schema::Member& member) const noexcept {
    const std::size_t size = member.prefix.size();
    return left(at) >= size && same(at, member.prefix.data(), size) ? at + size : nullptr;
  }

  // Behind what a head says how long it is.
  Place skip(Head head) const noexcept {
    return head.end != nullptr && left(head.end) >= head.number ? head.end + head.number : nullptr;
  }

  std::size_t left(Place at) const noexcept { return static_cast<std::size_t>(end_ - at); }

  const Schema& schema_;
  const Place end_;
};

}  // namespace

bool surely_conforms(const Schema& schema, base::ByteView bytes) noexcept {
  if (bytes.size() > kMostBytes) return false;
  const Place end = bytes.data() + bytes.size();
  return Walk(schema, end).value(bytes.data(), schema.root(), 0) == end && !bytes.empty();
}

}  // namespace holdfast::codec
