// SPDX-License-Identifier: Apache-2.0
#include "codec/view.h"

#include <bit>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "codec/cbor_head.h"
#include "codec/float_bits.h"

namespace holdfast::codec {
namespace {

struct Head {
  Major major;
  std::uint8_t info;
  std::uint64_t number;
  const std::uint8_t* body;  // behind the head
};

// Inlined, because most heads are one byte.
[[gnu::always_inline]] inline Head read_head(const std::uint8_t* at,
                                             const std::uint8_t* end) noexcept {
  CHECK(at < end);
  Head head{static_cast<Major>(*at >> 5), static_cast<std::uint8_t>(*at & 0x1f), 0, at + 1};
  if (head.info < kOneByte) {
    head.number = head.info;
    return head;
  }
  CHECK(head.info <= kEightBytes);
  const std::size_t size = std::size_t{1} << (head.info - kOneByte);
  CHECK(static_cast<std::size_t>(end - head.body) >= size);
  head.number = load_big_endian(head.body, size);
  head.body += size;
  return head;
}

bool is_string(const Head& head) noexcept {
  return head.major == Major::kBytes || head.major == Major::kText;
}

const std::uint8_t* behind(const std::uint8_t* at, const std::uint8_t* end) noexcept {
  for (std::uint64_t left = 1; left != 0;) {
    const Head head = read_head(at, end);
    at = head.body;
    --left;
    if (is_string(head)) {
      CHECK(head.number <= static_cast<std::uint64_t>(end - at));
      at += head.number;
    } else if (head.major == Major::kList) {
      left += head.number;
    } else if (head.major == Major::kMap) {
      left += head.number * 2;
    } else if (head.major == Major::kTag) {
      ++left;
    }
  }
  return at;
}

}  // namespace

View View::of(base::ByteView canonical) noexcept {
  const std::uint8_t* at = canonical.data();
  const std::uint8_t* end = at + canonical.size();
  if (canonical.size() > sizeof kSelfDescribe &&
      std::memcmp(at, kSelfDescribe, sizeof kSelfDescribe) == 0) {
    at += sizeof kSelfDescribe;
  }
  return {at, end};
}

View View::next() const noexcept { return {behind(at_, end_), end_}; }

base::ByteView View::encoded() const noexcept { return {at_, behind(at_, end_)}; }

ViewKind View::kind() const noexcept {
  CHECK(at_ < end_);
  switch (static_cast<Major>(*at_ >> 5)) {
    case Major::kNat:
    case Major::kNegative: return ViewKind::kInt;
    case Major::kBytes: return ViewKind::kBytes;
    case Major::kText: return ViewKind::kText;
    case Major::kList: return ViewKind::kList;
    case Major::kMap: return ViewKind::kMap;
    case Major::kTag: return ViewKind::kOther;
    case Major::kSimple: break;
  }
  switch (*at_) {
    case kFalseByte:
    case kTrueByte: return ViewKind::kBool;
    case kNullByte: return ViewKind::kNull;
    case kHalfByte:
    case kSingleByte:
    case kDoubleByte: return ViewKind::kFloat;
    default: return ViewKind::kOther;
  }
}

std::optional<bool> View::boolean() const noexcept {
  if (kind() != ViewKind::kBool) return std::nullopt;
  return *at_ == kTrueByte;
}

std::optional<std::uint64_t> View::nat() const noexcept {
  const Head head = read_head(at_, end_);
  if (head.major != Major::kNat) return std::nullopt;
  return head.number;
}

std::optional<std::int64_t> View::integer() const noexcept {
  const Head head = read_head(at_, end_);
  if (head.major != Major::kNat && head.major != Major::kNegative) return std::nullopt;
  if (head.number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(head.number);
  return head.major == Major::kNat ? magnitude : -1 - magnitude;
}

std::optional<double> View::real() const noexcept {
  const Head head = read_head(at_, end_);
  if (head.major == Major::kNat) return static_cast<double>(head.number);
  if (head.major == Major::kNegative) return negative_to_double(head.number);
  switch (*at_) {
    case kHalfByte: return half_to_double(static_cast<std::uint16_t>(head.number));
    case kSingleByte:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(head.number)));
    case kDoubleByte: return std::bit_cast<double>(head.number);
    default: return std::nullopt;
  }
}

std::optional<std::string_view> View::text() const noexcept {
  const Head head = read_head(at_, end_);
  if (head.major != Major::kText) return std::nullopt;
  CHECK(head.number <= static_cast<std::uint64_t>(end_ - head.body));
  return base::as_text({head.body, static_cast<std::size_t>(head.number)});
}

std::optional<base::ByteView> View::bytes() const noexcept {
  const Head head = read_head(at_, end_);
  if (head.major != Major::kBytes) return std::nullopt;
  CHECK(head.number <= static_cast<std::uint64_t>(end_ - head.body));
  return base::ByteView{head.body, static_cast<std::size_t>(head.number)};
}

std::uint64_t View::size() const noexcept {
  const Head head = read_head(at_, end_);
  return head.major == Major::kList || head.major == Major::kMap ? head.number : 0;
}

std::optional<View> View::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : entries()) {
    if (name.text() == key) return value;
  }
  return std::nullopt;
}

View::Elements View::elements() const noexcept {
  const Head head = read_head(at_, end_);
  return {View(head.body, end_), head.major == Major::kList ? head.number : 0};
}

View::Entries View::entries() const noexcept {
  const Head head = read_head(at_, end_);
  return {View(head.body, end_), head.major == Major::kMap ? head.number : 0};
}

}  // namespace holdfast::codec
