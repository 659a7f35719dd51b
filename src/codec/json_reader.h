// SPDX-License-Identifier: Apache-2.0
// JsonReader: pulls items out of JSON text (RFC 8259), one at a time, without a tree and without
// recursion. It checks the syntax and the UTF-8; how many items there are, what they mean, how
// deep they nest and whether keys repeat is for the one who pulls.
//
// A call that fails sets `problem()`, which names the place; nothing can be read after that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/item.h"
#include "codec/json_scan.h"
#include "codec/limits.h"

namespace holdfast::codec {

class JsonReader {
 public:
  struct Mark {
    const char* at;
  };

  static constexpr bool kKeysAreTexts = true;

  explicit JsonReader(std::string_view text) noexcept
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  // The next value: a whole scalar, or the opening of a list or map, then `cursor` is set.
  bool value(Item& item, Cursor& cursor);

  // Whether one more entry comes in the open container; at its end, closes it.
  More more(Cursor& cursor);

  // The key of a map entry (text), and the colon behind it.
  bool key(Item& item);

  // Whether nothing but white space is left; a finding otherwise.
  bool finish();

  Mark mark() const noexcept { return {at_}; }
  void rewind(Mark mark) noexcept { at_ = mark.at; }

  bool too_deep() noexcept { return fail(kTooDeep, base::ErrorCode::kTooLarge); }

  base::ErrorCode problem_code() const noexcept { return problem_code_; }
  std::string problem() const;

 private:
  // One comparison where no space stands, which is most often.
  const char* after_space(const char* at) const noexcept {
    while (at < end_ && static_cast<unsigned char>(*at) <= ' ' && is_space(*at)) ++at;
    return at;
  }
  static bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  [[gnu::cold]] bool fail(const char* what,
                          base::ErrorCode code = base::ErrorCode::kInvalid) noexcept {
    problem_ = what;
    problem_code_ = code;
    return false;
  }
  [[gnu::cold]] bool fail_at(const char* at, const char* what) noexcept {
    return at_ = at, fail(what);
  }
  const char* string(const char* quote, std::string_view& text);  // behind it; null: failed
  bool escaped_string(std::string_view& text, const char* start, bool high);
  bool escape();
  bool hex4(std::uint32_t& unit);
  bool number(Item& item);
  bool literal(std::string_view word, Item& item, ItemKind kind, std::uint64_t number);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::string unescaped_;
  const char* problem_ = "";
  base::ErrorCode problem_code_ = base::ErrorCode::kInvalid;
};

// The place is kept in a local while a token is read: every byte that is written to the output
// could, for all that the compiler knows, change the member.

[[gnu::always_inline]] inline const char* JsonReader::string(const char* quote,
                                                             std::string_view& text) {
  const char* const start = quote + 1;
  bool high = false;
  const char* const stop = scan_plain(start, end_, high);
  if (stop < end_ && *stop == '"' && !high) [[likely]] {
    text = {start, static_cast<std::size_t>(stop - start)};
    return stop + 1;
  }
  return escaped_string(text, start, high) ? at_ : nullptr;
}

[[gnu::always_inline]] inline bool JsonReader::value(Item& item, Cursor& cursor) {
  const char* at = at_ = after_space(at_);
  if (at == end_) return fail("the text ends where a value should be");
  switch (*at) {
    case '"':
      item.kind = ItemKind::kText;
      at = string(at, item.text);
      if (at == nullptr) return false;
      at_ = at;
      return true;
    case '{':
    case '[':
      item.kind = *at == '{' ? ItemKind::kMap : ItemKind::kList;
      cursor = {Cursor::kOpenEnd, true, *at == '{'};
      at_ = at + 1;
      return true;
    case 't': return literal("true", item, ItemKind::kBool, 1);
    case 'f': return literal("false", item, ItemKind::kBool, 0);
    case 'n': return literal("null", item, ItemKind::kNull, 0);
    default: return number(item);
  }
}

[[gnu::always_inline]] inline More JsonReader::more(Cursor& cursor) {
  const char* const at = after_space(at_);
  if (at == end_) {
    fail_at(at, cursor.map ? "the text ends inside a map" : "the text ends inside a list");
    return More::kError;
  }
  if (*at == ',' && !cursor.first) [[likely]] {
    at_ = at + 1;
    return More::kYes;
  }
  if (*at == (cursor.map ? '}' : ']')) {
    at_ = at + 1;
    return More::kNo;
  }
  if (!cursor.first) {
    fail_at(at, cursor.map ? "expected ',' or '}'" : "expected ',' or ']'");
    return More::kError;
  }
  at_ = at;
  cursor.first = false;
  return More::kYes;
}

[[gnu::always_inline]] inline bool JsonReader::key(Item& item) {
  const char* at = after_space(at_);
  if (at == end_ || *at != '"') return fail_at(at, "expected a quoted key");
  item.kind = ItemKind::kText;
  at = string(at, item.text);
  if (at == nullptr) return false;
  at = after_space(at);
  if (at == end_ || *at != ':') return fail_at(at, "expected ':' after a key");
  at_ = at + 1;
  return true;
}

inline bool JsonReader::number(Item& item) {
  const char* const start = at_;
  const char* at = at_;
  const bool negative = *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  std::uint64_t magnitude = 0;
  while (at < end_ && *at >= '0' && *at <= '9') {
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(*at++ - '0');
  }
  const auto count = at - digits;
  if (count == 0)
    return fail_at(at, negative ? "expected a digit after '-'" : "unexpected character");
  if (*digits == '0' && count > 1) return fail("a number may not begin with a zero");
  const bool real = at < end_ && (*at == '.' || *at == 'e' || *at == 'E');
  // Nineteen digits always fit 64 bits; of twenty, those that wrapped around are smaller than
  // the least number of twenty digits (the first digit is 1) or do not begin with 1.
  const bool fits =
      count <= 19 || (count == 20 && *digits == '1' && magnitude >= 10000000000000000000u);
  if (!real && fits && (!negative || magnitude <= std::uint64_t{1} << 63)) [[likely]] {
    item.kind = negative && magnitude != 0 ? ItemKind::kNegative : ItemKind::kNat;
    item.number = item.kind == ItemKind::kNegative ? magnitude - 1 : magnitude;
    at_ = at;
    return true;
  }
  const auto digits_from = [&](const char* from) {
    while (from < end_ && *from >= '0' && *from <= '9') ++from;
    return from;
  };
  if (at < end_ && *at == '.') {
    const char* const fraction = ++at;
    at = digits_from(at);
    if (at == fraction) return fail_at(at, "expected a digit after '.'");
  }
  if (at < end_ && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end_ && (*at == '+' || *at == '-')) ++at;
    const char* const exponent = at;
    at = digits_from(at);
    if (at == exponent) return fail_at(at, "expected a digit in the exponent");
  }
  item.kind = ItemKind::kNumber;
  item.text = {start, static_cast<std::size_t>(at - start)};
  at_ = at;
  return true;
}

}  // namespace holdfast::codec
