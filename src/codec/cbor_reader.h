// SPDX-License-Identifier: Apache-2.0
// CborReader: pulls items out of CBOR bytes (RFC 8949), one at a time, without a tree and without
// recursion. It accepts every well-formed encoding, also indefinite lengths and long heads; told
// to be strict, only the shortest heads and definite lengths. A length is believed only as far as
// there are bytes to hold it. Depth, order and repetition of keys are for the one who pulls.
//
// A call that fails sets `problem()`, which names the place; nothing can be read after that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "codec/cbor_head.h"
#include "codec/item.h"
#include "codec/limits.h"
#include "codec/utf8.h"

namespace holdfast::codec {

enum class Strictness : std::uint8_t { kLenient, kStrict };

class CborReader {
 public:
  struct Mark {
    const std::uint8_t* at;
  };

  static constexpr bool kKeysAreTexts = false;

  CborReader(base::ByteView bytes, Strictness strictness) noexcept
      : begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        strict_(strictness == Strictness::kStrict) {}

  // Passes over the self-describe tag, if it is there.
  bool self_describe() noexcept;

  // The next item: a whole scalar, or the opening of a container, then `cursor` is set. A tag is
  // a container of one item.
  bool value(Item& item, Cursor& cursor);

  // Whether one more entry comes in the open container; at its end, closes it.
  More more(Cursor& cursor);

  // The key of a map entry, if it is a scalar.
  bool key(Item& item);

  // Whether all is read; a finding otherwise.
  bool finish();

  Mark mark() const noexcept { return {at_}; }
  void rewind(Mark mark) noexcept { at_ = mark.at; }

  bool too_deep() noexcept { return fail(kTooDeep, base::ErrorCode::kTooLarge); }

  base::ErrorCode problem_code() const noexcept { return problem_code_; }
  std::string problem() const;

 private:
  std::size_t bytes_left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[gnu::cold]] bool fail(const char* what,
                          base::ErrorCode code = base::ErrorCode::kInvalid) noexcept {
    problem_ = what;
    problem_code_ = code;
    return false;
  }
  // The number of a head whose first byte has been read.
  bool number(std::uint8_t info, std::uint64_t& n) {
    if (info >= kOneByte) return long_number(info, n);
    n = info;
    return true;
  }
  bool long_number(std::uint8_t info, std::uint64_t& n);
  bool indefinite(Major major, Item& item, Cursor& cursor);
  bool simple(std::uint8_t info, Item& item);
  bool chunks(Major major, Item& item);

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool strict_;
  std::string joined_;
  const char* problem_ = "";
  base::ErrorCode problem_code_ = base::ErrorCode::kInvalid;
};

[[gnu::always_inline]] inline bool CborReader::value(Item& item, Cursor& cursor) {
  if (at_ == end_) return fail("the bytes end where an item should be");
  const auto major = static_cast<Major>(*at_ >> 5);
  const auto info = static_cast<std::uint8_t>(*at_ & 0x1f);
  ++at_;
  if (major == Major::kSimple) return simple(info, item);
  if (info == kIndefinite) return indefinite(major, item, cursor);
  if (!number(info, item.number)) return false;
  switch (major) {
    case Major::kNat: item.kind = ItemKind::kNat; return true;
    case Major::kNegative: item.kind = ItemKind::kNegative; return true;
    case Major::kBytes:
    case Major::kText:
      if (item.number > bytes_left()) return fail("a length passes the end of the bytes");
      item.text = base::as_text({at_, static_cast<std::size_t>(item.number)});
      item.kind = major == Major::kText ? ItemKind::kText : ItemKind::kBytes;
      if (major == Major::kText && !is_ascii(item.text) && !is_utf8(item.text))
        return fail("a text is not valid UTF-8");
      at_ += item.number;
      return true;
    case Major::kList:
      if (item.number > bytes_left()) return fail("a length passes the end of the bytes");
      item.kind = ItemKind::kList;
      cursor = {item.number, true, false};
      return true;
    case Major::kMap:
      if (item.number > bytes_left() / 2) return fail("a length passes the end of the bytes");
      item.kind = ItemKind::kMap;
      cursor = {item.number, true, true};
      return true;
    case Major::kTag:
      item.kind = ItemKind::kTag;
      cursor = {1, true, false};
      return true;
    case Major::kSimple: break;
  }
  return fail("unknown item");
}

inline bool CborReader::key(Item& item) {
  Cursor cursor;
  if (!value(item, cursor)) return false;
  if (item.kind == ItemKind::kList || item.kind == ItemKind::kMap || item.kind == ItemKind::kTag) {
    return fail("a map key must be a text or an integer");
  }
  return true;
}

inline More CborReader::more(Cursor& cursor) {
  if (cursor.left != Cursor::kOpenEnd) {
    if (cursor.left == 0) return More::kNo;
    --cursor.left;
    return More::kYes;
  }
  if (at_ < end_ && *at_ == kBreakByte) {
    ++at_;
    return More::kNo;
  }
  return More::kYes;
}

}  // namespace holdfast::codec
