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
bool same(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) noexcept {
  const auto differ = [&](std::size_t at, auto word) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word != other;
  };
  if (size < sizeof(std::uint32_t)) return std::equal(a, a + size, b);
  if (size <= sizeof(std::uint64_t)) {
    const std::size_t last = size - sizeof(std::uint32_t);  // overlaps the first
    return !differ(0, std::uint32_t{}) && !differ(last, std::uint32_t{});
  }
  std::size_t at = 0;
  for (; size - at > sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    if (differ(at, std::uint64_t{})) return false;
  }
  return !differ(size - sizeof(std::uint64_t), std::uint64_t{});
}

class Walk {
 public:
  Walk(const Schema& schema, base::ByteView bytes) noexcept
      : schema_(schema), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool run() noexcept { return value(schema_.root(), 0) && at_ == end_; }

 private:
  // Small, so that it becomes part of the loop over the fields of a record.
  bool value(const Schema::Node& node, int depth) noexcept {
    if (at_ == end_) return false;
    switch (node.kind) {
      case TypeKind::kBool: return (*at_ == kTrueByte || *at_ == kFalseByte) && (++at_, true);
      case TypeKind::kNat: return head(Major::kNat);
      case TypeKind::kText: return text();
      default: return depth < kDeepest && rarer(node, depth + 1);
    }
  }

  [[gnu::noinline]] bool rarer(const Schema::Node& node, int depth) noexcept {
    switch (node.kind) {
      case TypeKind::kOption:
        if (*at_ == kNullByte) return ++at_, true;
        return value(schema_.node(node.inner), depth);
      case TypeKind::kRecord: return record(node, depth);
      case TypeKind::kVariant: return variant(node, depth);
      case TypeKind::kList: return list(node, depth);
      case TypeKind::kInt:
        return (head(Major::kNat) || head(Major::kNegative)) && number_ <= INT64_MAX;
      case TypeKind::kBytes: return head(Major::kBytes) && skip(number_);
      default: return false;
    }
  }

  bool record(const Schema::Node& node, int depth) noexcept {
    if (!head(Major::kMap) || number_ != node.member_count) return false;
    for (std::uint32_t i = 0; i < node.member_count; ++i) {
      const Schema::Member& field = schema_.member(node, i);
      if (!prefix(field) || !value(schema_.node(field.node), depth)) return false;
    }
    return true;
  }

  // No prefix is the beginning of another one: each says how long its tag is.
  bool variant(const Schema::Node& node, int depth) noexcept {
    for (std::uint32_t i = 0; i < node.member_count; ++i) {
      const Schema::Member& arm = schema_.member(node, i);
      if (prefix(arm)) return arm.unit || value(schema_.node(arm.node), depth);
    }
    return false;
  }

  bool list(const Schema::Node& node, int depth) noexcept {
    if (!head(Major::kList)) return false;
    for (std::uint64_t left = number_; left > 0; --left) {
      if (!value(schema_.node(node.inner), depth)) return false;
    }
    return true;
  }

  bool text() noexcept {
    if (!head(Major::kText)) return false;
    const std::string_view text(reinterpret_cast<const char*>(at_),
                                number_ <= left() ? number_ : 0);
    return skip(number_) && (is_ascii(text) || is_utf8(text));
  }

  // A head of this type, in its shortest form; its number is in number_.
  bool head(Major major) noexcept {
    if (at_ == end_ || *at_ >> 5 != static_cast<std::uint8_t>(major)) return false;
    const std::uint8_t low = *at_ & 31;
    if (low < kOneByte) {
      number_ = low;
      return ++at_, true;
    }
    if (low > kEightBytes) return false;
    const std::size_t size = std::size_t{1} << (low - kOneByte);
    if (left() <= size) return false;
    number_ = load_big_endian(at_ + 1, size);
    if (head_size(number_) != size + 1) return false;
    at_ += size + 1;
    return true;
  }

  bool prefix(const Schema::Member& member) noexcept {
    const std::size_t size = member.prefix.size();
    if (left() < size || !same(at_, member.prefix.data(), size)) return false;
    at_ += size;
    return true;
  }

  bool skip(std::uint64_t count) noexcept {
    if (left() < count) return false;
    at_ += count;
    return true;
  }

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  const Schema& schema_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t number_ = 0;
};

}  // namespace

bool surely_conforms(const Schema& schema, base::ByteView bytes) noexcept {
  return bytes.size() <= kMostBytes && Walk(schema, bytes).run();
}

}  // namespace holdfast::codec
